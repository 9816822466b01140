//! What is put in, as `--name number`.

macro_rules! inputs {
    (numbers { $($number:ident $default:literal $meaning:literal)* } flags { $($flag:ident $effect:literal)* }) => {
        /// What is put in, in the units that the usage text gives.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::struct_excessive_bools, reason = "they change independently of each other")]
        pub(crate) struct Inputs { $(pub(crate) $number: f64,)* $(pub(crate) $flag: bool,)* }

        impl Default for Inputs {
            fn default() -> Inputs { Inputs { $($number: $default,)* $($flag: false,)* } }
        }

        impl Inputs {
            fn set(&mut self, name: &str, value: f64) -> bool {
                match name {
                    $(stringify!($number) => self.$number = value,)*
                    $(stringify!($flag) => self.$flag = value > 0.0,)*
                    _ => return false,
                }
                true
            }
        }

        pub(crate) fn usage() -> String {
            let line = |name: &str, default: f64, meaning: &str| {
                format!("  --{:15}{default:>7}  {meaning}\n", name.replace('_', "-"))
            };
            let mut text = "team_simulation [--NAME NUMBER]...\n".to_owned();
            $(text += &line(stringify!($number), $default, $meaning);)*
            $(text += &line(stringify!($flag), 0.0, concat!("1: ", $effect));)*
            text
        }
    };
}

// ESTIMATE marks what is to be replaced by what `team_load` measures on the server in question.
inputs! {
    numbers {
        members 0.0 "members; 0 for 10 to 10,000"
        cards 0.0 "cards; 0 for 10,000 to 10,000,000"
        cores 8.0 "cores of a node of the server"
        nodes 1.0 "nodes of the server"
        seed 1.0 "of chance"
        notify_us 40.0 "ESTIMATE: check and send one live notification to one subscriber"
        standing_us 400.0 "ESTIMATE: one standing query (three statements)"
        changes_us 300.0 "ESTIMATE: one query for changes, of cards or of proposals, without its rows"
        row_us 60.0 "ESTIMATE: one row of an answer: newest revision, text"
        scan_us 20.0 "measured: list one row, as those that are known, and check its permission"
        name_us 20.0 "ESTIMATE: one row of the list of members, read by a new connection and after a member changed"
        request_us 3_000.0 "ESTIMATE: one request (write), without notifications"
        page_us 12_000.0 "measured: one page of 100 cards of a first sync"
        fsync_us 1_000.0 "ESTIMATE: one commit on the disk"
        tikv_get_us 500.0 "ESTIMATE: one read of TiKV over the network"
        tikv_raft_us 2_000.0 "ESTIMATE: network and fsync of a majority, of which a commit takes three"
        client_page_ms 48.0 "measured: a replica writes and indexes 100 cards"
        ram_card 300.0 "ESTIMATE: bytes of the server's memory of a card, besides its cache"
        ram_connection 2e5 "ESTIMATE: bytes of the server's memory of a connection with its live queries"
        round_trip_ms 20.0 "between a member and the server"
        edits 4.0 "direct edits and proposals of a member a day"
        accepts 2.0 "accepted proposals of a member a day"
        comments 1.0 "comments of a member a day"
        drops 4.0 "lost connections of a member a day"
        joins 0.01 "share of the members who begin with an empty replica, a day"
        quiet_s 15.0 "how long after looking at everything a member does so again"
        collect_s 0.0 "how long a member collects notifications before asking"
    }
    flags {
        whole "who is told looks at everything: with the standing query and what was written slowly"
        named "of the list of members only what changed is read"
        listed "who is taken from a group is told which 1,000 cards that hides, and nobody else is told"
        router "notifications are made after the commit (SURREAL_LIVE_QUERY_ENGINE=router)"
        tikv "on TiKV instead of SurrealKV"
    }
}

/// Changes inputs by `--name number`s.
pub(crate) fn parse(
    mut inputs: Inputs,
    mut arguments: impl Iterator<Item = String>,
) -> Result<Inputs, String> {
    while let Some(name) = arguments.next() {
        let known = name.strip_prefix("--").map(|name| name.replace('-', "_"));
        let value = arguments.next().and_then(|text| text.parse().ok());
        let value = value.filter(|value| (0.0..f64::INFINITY).contains(value));
        let is_set = known.zip(value).is_some_and(|(known, value)| inputs.set(&known, value));
        if !is_set || inputs.cores < 1.0 || inputs.nodes < 1.0 || inputs.members > 1e6 {
            return Err(format!("{name}: unknown, or without a number that can be used"));
        }
    }
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_names_with_numbers() {
        let parsed = |text: &str| parse(Inputs::default(), text.split(' ').map(str::to_owned));
        let expected = Inputs { notify_us: 41.5, whole: true, ..Inputs::default() };
        assert_eq!(parsed("--notify-us 41.5 --whole 1"), Ok(expected));
        for text in
            ["--unknown 1", "notify-us 1", "--notify-us", "--notify-us x", "--notify-us -1", "--cores 0"]
        {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
