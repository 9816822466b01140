//! One suite for every place of a team's database: in memory, in a folder, and at a server in a process of its own.

mod access;
mod cards;
mod members;
mod place;
mod proposals;
mod servers;
mod statements;

use place::Place;

/// Runs tests of the suite at every place.
macro_rules! conformance {
    ($($suite:ident::$name:ident,)*) => {
        conformance!(memory, in_memory, $($suite::$name,)*);
        conformance!(folder, in_folder, $($suite::$name,)*);
        conformance!(at_server, at_server, $($suite::$name,)*);
    };
    ($module:ident, $place:ident, $($suite:ident::$name:ident,)*) => {
        mod $module {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() -> anyhow::Result<()> {
                    let place = crate::Place::$place().await?;
                    crate::$suite::$name(&place).await
                }
            )*
        }
    };
}

conformance! {
    cards::cards_are_written_read_and_deleted,
    cards::a_request_is_carried_out_once,
    cards::a_request_is_carried_out_wholly_or_not_at_all,
    cards::writers_at_the_same_time_lose_nothing,
    cards::a_replica_reads_page_by_page,
    cards::vectors_are_kept_once,
    cards::texts_that_are_too_large_are_refused,
    members::an_invitation_is_used_once,
    members::a_team_keeps_an_administrator,
    members::a_removed_member_reads_nothing_more,
    members::passwords_are_reset_and_never_shown,
    members::passwords_are_not_guessed_for_long,
    members::a_team_is_upgraded_while_nobody_writes,
    members::rows_of_an_earlier_version_are_shown_after_an_upgrade,
    members::a_team_is_exported_and_made_anew,
    members::a_newer_team_is_not_touched,
    proposals::a_proposal_is_made_discussed_and_accepted,
    proposals::a_policy_asks_for_several_reviewers,
    proposals::proposals_are_withdrawn_and_reopened,
    proposals::proposals_are_as_hidden_as_their_cards,
    access::roles_and_visibilities_decide_what_is_seen,
    access::random_grants_leak_nothing,
    statements::statements_of_a_member_reveal_nothing_hidden,
    statements::a_card_that_is_hidden_reads_as_one_that_does_not_exist,
    statements::nobody_poses_as_somebody_else,
    statements::what_a_request_says_of_a_card_is_not_believed,
    access::a_member_hears_of_what_they_see,
    statements::nobody_writes_down_what_is_hidden_while_listening,
    statements::no_condition_is_tried_on_hidden_rows,
    access::who_sees_less_is_told_and_nobody_else,
    access::a_reviewer_says_who_sees_a_card,
    access::decisions_are_audited_where_their_card_is_seen,
}
