//! Cards, written and read.

use anyhow::{Context as _, Result, ensure};
use autokit_team::{
    CardFilter, CardKey, CardVectors, CardWrite, Code, Cursor, MAX_TEXT, NewProposal, Request, Role, Session,
    SharedCard, Step, Visibility,
};
use surrealdb::types::RecordId;

use crate::place::Place;

pub(crate) fn new_card(body: &str, visible_to: Visibility) -> CardWrite {
    CardWrite {
        card: None,
        base: 0,
        operation: "create".to_owned(),
        body: Some(body.to_owned()),
        visible_to: Some(visible_to),
    }
}

pub(crate) fn edit(card: &CardKey, base: u32, body: Option<&str>) -> CardWrite {
    let operation = if body.is_some() { "edit" } else { "delete" }.to_owned();
    CardWrite { card: Some(card.clone()), base, operation, body: body.map(str::to_owned), visible_to: None }
}

pub(crate) fn request(key: &str, writes: Vec<CardWrite>) -> Request {
    steps(key, writes.into_iter().map(Step::Write).collect())
}

pub(crate) fn steps(key: &str, steps: Vec<Step>) -> Request {
    let at = "2026-01-02T03:04:05.000Z".parse().expect("a time");
    Request { key: key.to_owned(), reason: format!("because of {key}"), at, steps }
}

/// Reads everything a member sees.
pub(crate) async fn all(session: &Session) -> Result<Vec<SharedCard>> {
    let (mut cards, mut feed) = (Vec::new(), session.feed(&Cursor::default(), &CardFilter::default()));
    loop {
        let changes = feed.next(|_, _, _| false).await?;
        cards.extend(changes.cards);
        if !changes.more {
            return Ok(cards);
        }
    }
}

pub(crate) async fn cards_are_written_read_and_deleted(place: &Place) -> Result<()> {
    let ann = place.member("ann", Role::Reviewer).await?;
    let bob = place.member("bob", Role::Reader).await?;
    let written = ann
        .send(&request("one", vec![new_card("kettle", Visibility::Team), new_card("pot", Visibility::Team)]))
        .await?;
    ensure!(written.iter().map(|one| (one.position, one.number)).eq([(0, 1), (1, 1)]), "{written:?}");
    let kettle = &written[0].card;
    let before = bob.changes(&Cursor::default(), &CardFilter::default()).await?;
    ensure!(before.cards.len() == 2 && !before.more, "{before:?}");

    let edited = ann.send(&request("two", vec![edit(kettle, 1, Some("electric kettle"))])).await?;
    ensure!(edited[0].number == 2);
    let seen = bob.changes(&before.cursor, &CardFilter::default()).await?.cards;
    let newest = seen.iter().rfind(|card| card.card == *kettle);
    let newest = newest.ok_or_else(|| anyhow::anyhow!("the kettle is not among {seen:?}"))?;
    ensure!(newest.body.as_deref() == Some("electric kettle") && newest.number == 2, "{newest:?}");
    ensure!(newest.author == *ann.member() && newest.reason == "because of two", "{newest:?}");
    ensure!(newest.at.to_string() == "2026-01-02T03:04:05.000Z", "{newest:?}");

    ann.send(&request("three", vec![edit(kettle, 2, None)])).await?;
    let history = bob.history(kettle).await?;
    let bodies: Vec<Option<&str>> = history.iter().map(|one| one.body.as_deref()).collect();
    ensure!(bodies == [Some("kettle"), Some("electric kettle"), None], "{history:?}");

    // What is based on an older state is refused.
    let late = ann.send(&request("four", vec![edit(kettle, 2, Some("late"))])).await;
    ensure!(late.as_ref().is_err_and(|error| error.code == Code::Changed), "{late:?}");
    Ok(())
}

pub(crate) async fn a_request_is_carried_out_once(place: &Place) -> Result<()> {
    let ann = place.member("ann", Role::Reviewer).await?;
    let bea = place.member("bea", Role::Reviewer).await?;
    let once = request("key", vec![new_card("kettle", Visibility::Team)]);
    let first = ann.send(&once).await?;
    ensure!(ann.send(&once).await? == first);
    ensure!(all(&ann).await?.len() == 1);
    // A key is somebody's own.
    bea.send(&once).await?;
    ensure!(all(&ann).await?.len() == 2);
    Ok(())
}

pub(crate) async fn a_request_is_carried_out_wholly_or_not_at_all(place: &Place) -> Result<()> {
    let ann = place.member("ann", Role::Reviewer).await?;
    let kettle = ann.send(&request("one", vec![new_card("kettle", Visibility::Team)])).await?.remove(0);
    let writes = vec![
        new_card("pot", Visibility::Team),
        edit(&kettle.card, 1, Some("changed")),
        edit(&kettle.card, 1, Some("based on what is gone by now")),
    ];
    let refused = ann.send(&request("two", writes)).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Changed), "{refused:?}");
    let cards = all(&ann).await?;
    ensure!(cards.len() == 1 && cards[0].body.as_deref() == Some("kettle"), "{cards:?}");
    // The key is free for another try.
    ann.send(&request("two", vec![new_card("pot", Visibility::Team)])).await?;
    ensure!(all(&ann).await?.len() == 2);
    Ok(())
}

pub(crate) async fn writers_at_the_same_time_lose_nothing(place: &Place) -> Result<()> {
    const EACH: usize = 12;
    let names = ["ann", "bea", "cleo"];
    let ann = place.member(names[0], Role::Reviewer).await?;
    let card = ann.send(&request("first", vec![new_card("0", Visibility::Team)])).await?.remove(0).card;
    let mut writers = vec![ann.clone()];
    for name in &names[1..] {
        writers.push(place.member(name, Role::Reviewer).await?);
    }
    let tasks = writers.into_iter().map(|writer| {
        let card = card.clone();
        tokio::spawn(async move {
            for at in 0..EACH {
                loop {
                    let now = writer.history(&card).await?;
                    let last = now.last().expect("it is seen");
                    let body =
                        format!("{} {}:{at}", last.body.as_deref().unwrap_or_default(), writer.member());
                    let key = format!("{at}-{}", last.number);
                    match writer.send(&request(&key, vec![edit(&card, last.number, Some(&body))])).await {
                        Ok(_) => break,
                        // Somebody else was faster.
                        Err(error) if error.code == Code::Changed => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            Ok(())
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await??;
    }
    let history = ann.history(&card).await?;
    ensure!(history.len() == 1 + names.len() * EACH, "{} revisions", history.len());
    // Each revision is the one before with one more word: nobody overwrote what they had not seen.
    for (before, after) in history.iter().zip(&history[1..]) {
        let (before, after) =
            (before.body.as_deref().unwrap_or_default(), after.body.as_deref().unwrap_or_default());
        ensure!(after.starts_with(before) && after.len() > before.len(), "{before} became {after}");
    }
    Ok(())
}

pub(crate) async fn a_replica_reads_page_by_page(place: &Place) -> Result<()> {
    let ann = place.member("ann", Role::Reviewer).await?;
    let bob = place.member("bob", Role::Reader).await?;
    for at in 0..5 {
        let writes = (0..500).map(|one| new_card(&format!("{at}/{one}"), Visibility::Team)).collect();
        ann.send(&request(&at.to_string(), writes)).await?;
    }
    let first = bob.changes(&Cursor::default(), &CardFilter::default()).await?;
    ensure!(first.more && first.cards.len() == 100);
    let mut bodies: Vec<String> = all(&bob).await?.into_iter().filter_map(|card| card.body).collect();
    bodies.sort_unstable();
    bodies.dedup();
    ensure!(bodies.len() == 2_500, "{}", bodies.len());
    ensure!(bob.visible().await?.len() == 2_500);
    // What is known is not read again.
    let known = first.cards[0].card.clone();
    let mut feed = bob.feed(&Cursor::default(), &CardFilter::default());
    let rest = feed.next(|card, number, to| *card == known && number == 1 && *to == Visibility::Team).await?;
    ensure!(rest.cards.len() == 99 && rest.left_out.is_empty() && rest.cards[..] == first.cards[1..]);
    Ok(())
}

pub(crate) async fn vectors_are_kept_once(place: &Place) -> Result<()> {
    let (ann, bea) = (place.member("ann", Role::Reviewer).await?, place.member("bea", Role::Reviewer).await?);
    let rea = place.member("rea", Role::Reader).await?;
    let only_ann = Visibility::Person(ann.member().clone());
    let made = ann
        .send(&request("one", vec![new_card("kettle", Visibility::Team), new_card("diary", only_ann)]))
        .await?;
    let (kettle, diary) = (&made[0].card, &made[1].card);
    let both = [kettle.clone(), diary.clone()];
    let of = |card: &CardKey, number: u32, recipe: &str, byte: u8| {
        Step::Vectors(CardVectors {
            card: card.clone(),
            number,
            recipe: recipe.to_owned(),
            dim: 2,
            data: vec![byte; 16],
        })
    };
    ann.send(&steps("two", vec![of(kettle, 1, "x", 1), of(diary, 1, "x", 1), of(kettle, 7, "early", 1)]))
        .await?;
    // Others with the same recipe, and of a card that is hidden, change nothing; another recipe is kept beside.
    bea.send(&steps("three", vec![of(kettle, 1, "x", 2), of(diary, 1, "y", 2), of(kettle, 1, "y", 2)]))
        .await?;
    let refused = rea.send(&steps("four", vec![of(kettle, 1, "z", 3)])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    for (session, recipe, bytes) in [
        (&ann, "x", vec![1, 1]),
        (&bea, "x", vec![1]),
        (&rea, "x", vec![1]),
        (&ann, "y", vec![2]),
        (&rea, "y", vec![2]),
        (&ann, "early", vec![]),
        (&ann, "z", vec![]),
    ] {
        let found = session.vectors(&both, recipe).await?;
        let first: Vec<u8> = found.iter().filter_map(|vectors| vectors.data.first().copied()).collect();
        ensure!(first == bytes && found.iter().all(|one| one.data.len() == 16 && one.dim == 2), "{found:?}");
        let numbers = session.with_vectors(&both, recipe).await?;
        ensure!(
            numbers.len() == bytes.len() && numbers.iter().all(|(_, number)| *number == 1),
            "{numbers:?}"
        );
    }
    // The next state has none until somebody gives them.
    ann.send(&request("five", vec![edit(kettle, 1, Some("electric kettle"))])).await?;
    bea.send(&steps("six", vec![of(kettle, 1, "x", 4), of(kettle, 2, "x", 5)])).await?;
    let found = rea.vectors(&both, "x").await?;
    ensure!(found.len() == 1 && found[0].number == 2 && found[0].data[0] == 5, "{found:?}");
    Ok(())
}

/// Whoever may write or propose cannot make answers so large that nobody reads them any more.
pub(crate) async fn texts_that_are_too_large_are_refused(place: &Place) -> Result<()> {
    let ann = place.member("ann", Role::Reviewer).await?;
    let cat = place.member("cat", Role::Contributor).await?;
    let (most, more) = ("x".repeat(MAX_TEXT), "x".repeat(MAX_TEXT + 1));
    ann.send(&request("most", vec![new_card(&most, Visibility::Team)])).await?;
    let refused = ann.send(&request("more", vec![new_card(&more, Visibility::Team)])).await;
    let error = refused.err().context("a card was written that is too large")?;
    ensure!(error.code == Code::TooLarge && error.message.len() < 100, "{error:?}");
    let propose = |draft: &str| {
        Step::Propose(NewProposal {
            card: None,
            visible_to: Some(Visibility::Team),
            draft: draft.to_owned(),
            fingerprint: "a kettle".to_owned(),
            risk: "low".to_owned(),
        })
    };
    let refused = cat.send(&steps("more", vec![propose(&more)])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::TooLarge), "{refused:?}");
    // Bytes count, not characters.
    let refused = cat.send(&steps("wide", vec![propose(&"ü".repeat(MAX_TEXT / 2 + 1))])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::TooLarge), "{refused:?}");
    // A reason is shortened.
    cat.send(&Request { reason: more.clone(), ..steps("wordy", vec![propose("{}")]) }).await?;
    // Whoever sees a new card says nothing else.
    let statement = "CREATE type::record('request', [$me, 'raw']) SET member = $me, key = 'raw', reason = '',
        at = time::now(), steps = [{ kind: 'propose', position: 0, draft: '{}', fingerprint: 'raw', risk: 'low',
        visible_to: { kind: 'team', role: $more, note: $more } }]";
    let me = |session: &Session| ("me", RecordId::new("member", session.member().as_str()));
    cat.db().query(statement).bind(("more", more)).bind(me(&cat)).await?.check()?;
    let length = "SELECT VALUE string::len(<string> visible_to) FROM proposal WHERE fingerprint = 'raw'";
    let own = ann.db().query("LET $audiences = (SELECT VALUE audiences FROM ONLY $me)");
    let mut lengths = own.query(length).bind(me(&ann)).await?;
    let length: Vec<i64> = lengths.take(1)?;
    ensure!(length.len() == 1 && length[0] < 100, "{length:?}");
    ensure!(all(&ann).await?.len() == 1);
    Ok(())
}
