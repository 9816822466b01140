//! What is learned and kept, and what is not.

use std::sync::atomic::{AtomicUsize, Ordering};

use autokit_adapter::{
    Cards, Dataset, Error, FitOptions, Observation, Options, Question, Refusal, Source, cross_validate, fit,
    learn,
};

mod common;
use common::{Kind, World, mix};

fn go() -> bool {
    false
}

#[test]
fn a_planted_relation_is_learned_and_kept() {
    let world = World::new(Kind::Planted, 11, 400, 64, 200);
    let dataset = world.dataset();
    let (outcome, adapter) = learn(&dataset, &Options::default(), None, &go).unwrap();
    assert!(outcome.kept && outcome.refusal.is_none(), "{outcome:?}");
    assert!(outcome.difference > 0.02 && outcome.lower > 0.0 && outcome.lower <= outcome.difference);
    assert!(outcome.wins > outcome.losses && outcome.chance <= 0.001);
    assert!((outcome.after - outcome.before - outcome.difference).abs() < 1e-9);
    assert_eq!((outcome.questions, outcome.groups), (200, 200));
    let adapter = adapter.expect("what is kept is there");
    assert_eq!((adapter.model(), adapter.dim(), adapter.rank()), ("test-model", 64, 8));
    let stored = serde_json::to_string(&outcome).unwrap();
    assert_eq!(serde_json::from_str::<autokit_adapter::Outcome>(&stored).unwrap(), outcome);
}

#[test]
fn noise_is_not_kept() {
    let mut kept = 0;
    for seed in 0..50 {
        let (kind, groups) = match seed {
            0..40 => (Kind::Noise, 40),
            40..45 => (Kind::NoiseWithRejections, 60),
            _ => (Kind::Plain, 40),
        };
        let world = World::new(kind, seed, 200, 32, groups);
        kept += u32::from(cross_validate(&world.dataset(), &Options::default(), None, &go).unwrap().kept);
    }
    assert!(kept <= 1, "{kept} of 50");
}

#[test]
fn results_depend_on_the_seed_alone() {
    let world = World::new(Kind::Planted, 5, 200, 32, 60);
    let run = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = Options { seed, ..Options::default() };
        let dataset = world.dataset();
        pool.install(|| {
            let adapter = fit(&dataset, &FitOptions { seed, ..options.fit.clone() }, &go).unwrap();
            let outcome = cross_validate(&dataset, &options, None, &go).unwrap();
            (serde_json::to_vec(&adapter).unwrap(), serde_json::to_vec(&outcome).unwrap())
        })
    };
    assert_eq!(run(1, 4), run(3, 4));
    assert_ne!(run(1, 4).0, run(1, 5).0);
}

#[test]
fn too_few_groups_are_not_measured() {
    let world = World::new(Kind::Planted, 1, 100, 32, 39);
    let (outcome, adapter) = learn(&world.dataset(), &Options::default(), None, &go).unwrap();
    assert_eq!((outcome.kept, outcome.refusal), (false, Some(Refusal::TooFewGroups)));
    assert_eq!((outcome.groups, outcome.helpful.groups, adapter), (39, 39, None));
}

#[test]
fn it_stops_when_asked() {
    let world = World::new(Kind::Planted, 1, 100, 32, 60);
    let dataset = world.dataset();
    let asked = AtomicUsize::new(0);
    let count = || asked.fetch_add(1, Ordering::Relaxed) == usize::MAX;
    assert!(learn(&dataset, &Options::default(), None, &count).is_ok());
    let total = asked.load(Ordering::Relaxed);
    for last in [0, 1, total / 4, total / 2, total - 1] {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= last;
        assert_eq!(learn(&dataset, &Options::default(), None, &stop).err(), Some(Error::Cancelled), "{last}");
    }
    assert_eq!(fit(&dataset, &FitOptions::default(), &|| true).err(), Some(Error::Cancelled));
}

/// Four cards along the axes of four dimensions.
const AXES: [f32; 16] = [1.0, 0., 0., 0., 0., 1.0, 0., 0., 0., 0., 1.0, 0., 0., 0., 0., 1.0];

fn dataset(questions: Vec<Question>, observations: Vec<Observation>) -> Result<Dataset<'static>, Error> {
    Dataset::new("m", 4, Cards { vectors: &AXES, offsets: &[0, 1, 2, 3, 4] }, questions, observations)
}

fn question(vector: Vec<f32>) -> Question {
    Question { vector, prior: Vec::new() }
}

#[test]
fn near_duplicates_share_a_group_over_others() {
    // 15 degrees from one to the next: near enough by steps, too far from end to end.
    let at = |degrees: f32| question(vec![degrees.to_radians().cos(), degrees.to_radians().sin(), 0.0, 0.0]);
    let data = dataset(vec![at(15.0), at(80.0), at(0.0), at(30.0), at(98.1)], Vec::new()).unwrap();
    let groups: Vec<_> = (0..6).map(|index| data.group(index)).collect();
    assert_eq!(groups, [Some(0), Some(1), Some(0), Some(0), Some(1), None]);
}

#[test]
fn a_question_asked_again_counts_once() {
    let mut questions = Vec::new();
    let mut observations = Vec::new();
    for index in 0..60_u32 {
        let mut axis = vec![0.0; 4];
        axis[(index % 4) as usize] = 1.0;
        questions.push(question(mix(&[(1.0, &axis), (0.001 * index as f32, &[0.5; 4])])));
        let seen =
            Observation { question: index, card: index % 4, helpful: true, source: Source::Use, at: 0 };
        observations.push(seen);
    }
    let data = dataset(questions, observations).unwrap();
    let outcome = cross_validate(&data, &Options::default(), None, &go).unwrap();
    assert_eq!((outcome.questions, outcome.groups), (60, 4));
    assert_eq!(outcome.refusal, Some(Refusal::TooFewGroups));
}

#[test]
fn a_rejected_card_is_pushed_below_the_next() {
    let vector = mix(&[(1.0, &[1.0, 0.0, 0.0, 0.0]), (0.98, &[0.0, 1.0, 0.0, 0.0])]);
    let seen = Observation { question: 0, card: 0, helpful: false, source: Source::Answer, at: 0 };
    let data = dataset(vec![question(vector.clone())], vec![seen]).unwrap();
    let adapted = fit(&data, &FitOptions::default(), &go).unwrap().adapt(&vector).unwrap();
    assert!(vector[0] > vector[1] && adapted[0] < adapted[1], "{adapted:?}");
}

#[test]
fn without_judgements_nothing_changes() {
    let vector = vec![1.0, 0.0, 0.0, 0.0];
    let seen = |helpful| Observation { question: 0, card: 0, helpful, source: Source::Edit, at: 9 };
    // A yes and a no of the same age cancel out.
    let data = dataset(vec![question(vector.clone())], vec![seen(true), seen(false)]).unwrap();
    let adapter = fit(&data, &FitOptions::default(), &go).unwrap();
    assert_eq!(adapter.adapt(&vector).unwrap(), vector);
}

#[test]
fn data_that_does_not_fit_is_refused() {
    let unit = || vec![1.0, 0.0, 0.0, 0.0];
    let seen = |question, card| Observation { question, card, helpful: true, source: Source::Use, at: 0 };
    let refused = |questions, observations| dataset(questions, observations).err();
    assert!(matches!(refused(vec![question(vec![1.0])], vec![]), Some(Error::Length { .. })));
    assert!(matches!(refused(vec![question(vec![0.0; 4])], vec![]), Some(Error::NotUnit { .. })));
    assert!(matches!(refused(vec![question(unit())], vec![seen(1, 0)]), Some(Error::NoSuch { .. })));
    assert!(matches!(refused(vec![question(unit())], vec![seen(0, 4)]), Some(Error::NoSuch { .. })));
    for prior in [vec![(4, 0.1)], vec![(0, f32::NAN)]] {
        assert!(refused(vec![Question { vector: unit(), prior }], vec![]).is_some());
    }
    let offsets: [&[u32]; 5] = [&[], &[0], &[0, 4, 4], &[0, 5], &[1, 4]];
    for offsets in offsets {
        let cards = Cards { vectors: &AXES, offsets };
        assert!(Dataset::new("m", 4, cards, Vec::new(), Vec::new()).is_err(), "{offsets:?}");
    }
    let data = dataset(vec![question(unit())], vec![]).unwrap();
    for options in [
        FitOptions { rank: 17, ..FitOptions::default() },
        FitOptions { temperature: 0.0, ..FitOptions::default() },
        FitOptions { learning_rate: f32::NAN, ..FitOptions::default() },
        FitOptions { half_life_days: -1.0, ..FitOptions::default() },
    ] {
        assert!(matches!(fit(&data, &options, &go), Err(Error::Range(_))));
    }
}
