use proptest::prelude::*;

use super::super::{Rule, Rules};
use super::*;

fn tool(id: &str, provider: &str) -> Need {
    Need::Tool { id: id.to_owned(), name: "send".to_owned(), provider: provider.to_owned() }
}

fn host(host: &str) -> Need {
    Need::Host { host: host.to_owned() }
}

fn files(folder: &str) -> Need {
    Need::Files { folder: folder.to_owned() }
}

fn code() -> Need {
    Need::Code { language: "python".to_owned() }
}

fn secret() -> Need {
    Need::Secret { of: "https://api.acme.com".to_owned() }
}

fn everybody(permissions: &Permissions) -> Policy {
    Policy::everybody(Arc::new(permissions.clone()))
}

fn with(change: impl FnOnce(&mut Permissions)) -> Arc<Permissions> {
    let mut permissions = Permissions::default();
    change(&mut permissions);
    Arc::new(permissions)
}

#[test]
fn the_strictest_permission_on_any_need_holds() {
    let policy = everybody(&Permissions::default());
    assert_eq!(policy.decide(&[]).permission, Permission::Allow);
    assert_eq!(
        policy.decide(&[tool("a", "Acme"), host("x.org")]),
        Decision { permission: Permission::Allow, reasons: Vec::new() }
    );
    let asked = policy.decide(&[tool("a", "Acme"), code()]);
    assert_eq!(asked, Decision { permission: Permission::Ask, reasons: vec![code()] });
    let denied = policy.decide(&[files("/home/me"), code(), host("x.org")]);
    assert_eq!(denied, Decision { permission: Permission::Deny, reasons: vec![files("/home/me")] });
}

#[test]
fn each_kind_of_need_can_be_denied_by_itself() {
    let all = [tool("a", "Acme"), host("api.acme.com"), files("/srv/data"), secret(), code()];
    let mut open = Permissions::default();
    for need in &all {
        open.set(need, Permission::Allow);
    }
    assert_eq!(everybody(&open).decide(&all).permission, Permission::Allow);
    for need in &all {
        let mut closed = open.clone();
        closed.set(need, Permission::Deny);
        let decided = everybody(&closed).decide(&all);
        assert_eq!(decided, Decision { permission: Permission::Deny, reasons: vec![need.clone()] });
    }
}

#[test]
fn the_most_exact_rule_holds() {
    let tools = everybody(&with(|all| {
        all.tools.set("Acme/*", Permission::Deny);
        all.tools.set("a", Permission::Allow);
    }));
    assert_eq!(tools.permission_for(&tool("a", "Acme")), Permission::Allow);
    assert_eq!(tools.permission_for(&tool("b", "Acme")), Permission::Deny);
    assert_eq!(tools.permission_for(&tool("b", "Acme/*")), Permission::Allow);

    let hosts = everybody(&with(|all| {
        all.hosts = Rules::otherwise(Permission::Ask);
        all.hosts.set("*.acme.com", Permission::Deny);
        all.hosts.set("*.api.acme.com", Permission::Ask);
        all.hosts.set("eu.api.acme.com", Permission::Allow);
        all.hosts.set("localhost:8080", Permission::Allow);
    }));
    for (named, permission) in [
        ("eu.api.acme.com", Permission::Allow),
        ("EU.api.acme.com", Permission::Allow),
        ("eu.api.acme.com:8443", Permission::Allow),
        ("us.api.acme.com", Permission::Ask),
        ("www.acme.com", Permission::Deny),
        ("acme.com", Permission::Ask),
        ("evilacme.com", Permission::Ask),
        ("www.acme.com.evil.org", Permission::Ask),
        ("localhost:8080", Permission::Allow),
        ("localhost:8081", Permission::Ask),
        ("localhost", Permission::Ask),
    ] {
        assert_eq!(hosts.permission_for(&host(named)), permission, "{named}");
    }

    let folders = everybody(&with(|all| {
        all.files.set("/srv/me/data", Permission::Allow);
        all.files.set("/srv/me/data/private", Permission::Deny);
    }));
    for (folder, permission) in [
        ("/srv/me/data", Permission::Allow),
        ("/srv/me/data/a/b", Permission::Allow),
        ("/srv/me/data/private/x", Permission::Deny),
        ("/srv/me/database", Permission::Deny),
        ("/", Permission::Deny),
    ] {
        assert_eq!(folders.permission_for(&files(folder)), permission, "{folder}");
    }
    assert_eq!(folders.folders(), ["/srv/me/data"]);
    assert!(
        folders.divides(Path::new("/srv/me/data")) && !folders.divides(Path::new("/srv/me/data/private"))
    );
}

#[test]
fn of_two_equal_rules_the_stricter_applies_and_a_newer_one_replaces() {
    let mut rules = Permissions::default();
    let rule = |permission| Rule { of: "a".to_owned(), permission, overridable: false };
    rules.tools.rules = vec![rule(Permission::Deny), rule(Permission::Allow)];
    assert_eq!(everybody(&rules).permission_for(&tool("a", "")), Permission::Deny);
    rules.set(&tool("a", ""), Permission::Allow);
    assert_eq!(
        (everybody(&rules).permission_for(&tool("a", "")), rules.tools.rules.len()),
        (Permission::Allow, 1)
    );
}

#[test]
fn a_deny_for_everybody_is_final() {
    let open = with(|own| {
        for rules in own.kinds_mut() {
            rules.otherwise = Some(Permission::Allow);
        }
        for need in [tool("a", "Acme"), host("api.acme.com"), files("/srv"), secret(), code()] {
            own.set(&need, Permission::Allow);
        }
    });
    let closed = with(|all| {
        for rules in all.kinds_mut() {
            rules.otherwise = Some(Permission::Deny);
            // A mark on a deny has no effect.
            rules.overridable = true;
        }
    });
    let policy = Policy::for_profile(closed, open.clone());
    for need in [tool("a", "Acme"), host("api.acme.com"), files("/srv"), secret(), code()] {
        assert_eq!(policy.permission_for(&need), Permission::Deny, "{need:?}");
        let named = with(|all| all.set(&need, Permission::Deny));
        assert_eq!(
            Policy::for_profile(named, open.clone()).permission_for(&need),
            Permission::Deny,
            "{need:?}"
        );
    }
}

#[test]
fn a_question_for_everybody_is_loosened_only_where_it_is_marked() {
    let own = with(|own| own.set(&host("api.acme.com"), Permission::Allow));
    let asks = |overridable| {
        with(|all| {
            let of = "api.acme.com".to_owned();
            all.hosts.put(Rule { of, permission: Permission::Ask, overridable });
        })
    };
    let on = |policy: &Policy| policy.permission_for(&host("api.acme.com"));
    assert_eq!(on(&Policy::for_profile(asks(false), own.clone())), Permission::Ask);
    assert_eq!(on(&Policy::for_profile(asks(true), own.clone())), Permission::Allow);
    // A rule for everything does not loosen one that names the thing.
    let all = with(|own| own.hosts.otherwise = Some(Permission::Allow));
    assert_eq!(on(&Policy::for_profile(asks(true), all.clone())), Permission::Ask);
    let asked =
        |overridable| with(|all| all.hosts = Rules { overridable, ..Rules::otherwise(Permission::Ask) });
    assert_eq!(on(&Policy::for_profile(asked(true), all.clone())), Permission::Allow);
    assert_eq!(on(&Policy::for_profile(asked(false), all)), Permission::Ask);
    // Nobody has decided AutoKit's defaults, so a profile may loosen them.
    let opened = with(|own| {
        own.set(&files("/srv"), Permission::Allow);
        own.set(&code(), Permission::Allow);
    });
    let policy = Policy::for_profile(Arc::default(), opened);
    assert_eq!(
        (policy.permission_for(&files("/srv/a")), policy.permission_for(&code())),
        (Permission::Allow, Permission::Allow)
    );
    assert_eq!(policy.folders(), ["/srv"]);
}

#[test]
fn an_agent_that_names_another_profile_is_only_narrowed() {
    let open = with(|own| own.set(&code(), Permission::Allow));
    let closed = with(|own| own.set(&code(), Permission::Deny));
    let everybody = || Policy::everybody(Arc::default());
    assert_eq!(everybody().narrowed_by(open.clone()).permission_for(&code()), Permission::Ask);
    assert_eq!(everybody().narrowed_by(closed.clone()).permission_for(&code()), Permission::Deny);
    let own = Policy::for_profile(Arc::default(), open);
    assert_eq!(own.clone().narrowed_by(closed).permission_for(&code()), Permission::Deny);
    assert_eq!(own.narrowed_by(Arc::default()).permission_for(&code()), Permission::Ask);
}

#[test]
fn what_is_saved_reads_back_and_what_is_missing_takes_the_default() {
    let text = serde_json::to_string(&Permissions::default()).expect("JSON");
    assert_eq!(serde_json::from_str::<Permissions>(&text).expect("it"), Permissions::default());
    assert_eq!(serde_json::from_str::<Permissions>("{}").expect("it"), Permissions::default());
}

fn permission() -> impl Strategy<Value = Permission> {
    prop_oneof![Just(Permission::Allow), Just(Permission::Ask), Just(Permission::Deny)]
}

fn rules() -> impl Strategy<Value = Rules> {
    let of = prop_oneof![Just("a"), Just("b"), Just("Acme/*"), Just("Other/*")];
    let rule = (of, permission(), any::<bool>());
    let rule =
        rule.prop_map(|(of, permission, overridable)| Rule { of: of.to_owned(), permission, overridable });
    (proptest::option::of(permission()), any::<bool>(), proptest::collection::vec(rule, 0..4))
        .prop_map(|(otherwise, overridable, rules)| Rules { otherwise, overridable, rules })
}

/// A second implementation of what one layer says about a tool: the exact rules first, then those for the
/// provider, then the rest.
fn says(rules: &Rules, id: &str, provider: &str) -> Option<Permission> {
    let named = |of: &str| rules.rules.iter().filter(|rule| rule.of == of).map(|rule| rule.permission).max();
    named(id).or_else(|| named(&format!("{provider}/*"))).or(rules.otherwise)
}

proptest! {
    #[test]
    fn no_deny_is_escaped_and_no_unmarked_question_is_loosened(
        all in rules(), own in rules(), other in rules(), narrowed in any::<bool>(),
    ) {
        let of = |rules: &Rules| with(|layer| layer.tools = rules.clone());
        let mut policy = Policy::for_profile(of(&all), of(&own));
        let mut layers = vec![&own];
        if narrowed {
            policy = policy.narrowed_by(of(&other));
            layers.push(&other);
        }
        for (id, provider) in [("a", "Acme"), ("b", "Acme"), ("a", "Other"), ("c", "Third")] {
            let decided = policy.permission_for(&tool(id, provider));
            let common = says(&all, id, provider);
            let denied = common == Some(Permission::Deny)
                || layers.iter().any(|layer| says(layer, id, provider) == Some(Permission::Deny));
            prop_assert_eq!(decided == Permission::Deny, denied, "{} of {}", id, provider);
            let marked = all.overridable || all.rules.iter().any(|rule| rule.overridable);
            if common == Some(Permission::Ask) && !marked {
                prop_assert!(decided >= Permission::Ask);
            }
        }
    }
}
