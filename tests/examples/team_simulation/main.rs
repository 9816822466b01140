//! Simulates a team's server: many members whose replicas follow it, in virtual time, with given service times. Prints
//! tables in Markdown, which `.github/docs/team-sizing.md` explains.
//!
//! ```sh
//! cargo run --release --package autokit-tests --example team_simulation -- [--members N --cards N] [--notify-us 40]…
//! cargo test --package autokit-tests --example team_simulation
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what this does")]

mod arguments;
mod costs;
mod events;
mod members;
mod model;
mod queue;
mod tables;

use std::process::ExitCode;

use arguments::{Inputs, parse, usage};
use tables::{header, row};

/// What is changed one at a time, and then together (`+`) with all that the program and its schema can change.
const WAYS: [(&str, &str); 13] = [
    ("as it is", ""),
    ("a whole look every 5 min", "--quiet-s 300"),
    ("told members wait 1 s", "--collect-s 1"),
    ("told members look at everything", "--whole 1"),
    ("changed members only", "--named 1"),
    ("listed revocations", "--listed 1"),
    ("router", "--router 1"),
    ("4 nodes on TiKV", "--nodes 4 --tikv 1"),
    ("4 nodes on TiKV, router", "--nodes 4 --tikv 1 --router 1"),
    ("together", "+"),
    ("together, 32 cores", "+ --cores 32"),
    ("together, 4 nodes on TiKV", "+ --nodes 4 --tikv 1"),
    ("together, 4 nodes on TiKV, router", "+ --nodes 4 --tikv 1 --router 1"),
];
const TOGETHER: &str = "--collect-s 1 --named 1 --listed 1";

fn main() -> ExitCode {
    let inputs = match parse(Inputs::default(), std::env::args().skip(1)) {
        Ok(inputs) => inputs,
        Err(message) => {
            eprintln!("{message}\n{}", usage());
            return ExitCode::FAILURE;
        }
    };
    let one_or = |one: f64, all: &[f64]| if one > 0.0 { vec![one] } else { all.to_vec() };
    let mut largest = inputs.clone();
    println!("{}", header());
    for members in one_or(inputs.members, &[10.0, 100.0, 1e3, 1e4]) {
        for cards in one_or(inputs.cards, &[1e4, 1e6, 1e7]) {
            largest = Inputs { members, cards, ..inputs.clone() };
            println!("{}", row(WAYS[0].0, &largest));
        }
    }
    println!("\n{}", header());
    for (way, changes) in WAYS {
        let changes = changes.replace('+', TOGETHER);
        let changes = changes.split_whitespace().map(str::to_owned);
        let inputs = parse(largest.clone(), changes).expect("changes that are known");
        println!("{}", row(way, &inputs));
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;
    use costs::Rows;
    use events::Part;
    use model::Simulation;
    use tables::quantile;

    fn small() -> Inputs {
        Inputs { members: 40.0, cards: 3_000.0, ..Inputs::default() }
    }

    #[test]
    fn everybody_gets_what_is_accepted() {
        let outcome = Simulation::new(&small()).run();
        assert!(outcome.took[1].len() > 30);
        assert!(outcome.took[1].iter().all(|took| *took < 2.0), "{:?}", outcome.took);
        assert!(outcome.first_sync.is_some() && outcome.purge.is_some());
        let again = Simulation::new(&small()).run();
        assert_eq!((outcome.took, outcome.used), (again.took, again.used));
    }

    #[test]
    fn without_changes_members_ask_every_quiet_time() {
        let inputs = Inputs { seed: 3.0, drops: 1e-9, joins: 1e-9, row_us: 0.0, scan_us: 0.0, ..small() };
        let outcome = Simulation::new(&inputs).run();
        let round = inputs.round(Rows::default(), false, true);
        let polls = outcome.used[Part::Quiet as usize] * inputs.cores / round;
        let told = outcome.used[Part::Round as usize] * inputs.cores / round;
        assert!(
            polls < inputs.members / inputs.quiet_s && polls + told > inputs.members / (inputs.quiet_s + 0.2)
        );
    }

    #[test]
    fn members_of_other_nodes_ask_later_unless_a_router_tells_them() {
        let inputs = Inputs { nodes: 4.0, tikv: true, ..small() };
        let inline = quantile(&Simulation::new(&inputs).run().took[1], 0.5);
        let router = quantile(&Simulation::new(&Inputs { router: true, ..inputs }).run().took[1], 0.5);
        assert!(inline > 5.0 && router < 1.0, "{inline} {router}");
    }
}
