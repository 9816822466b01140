//! The bound on the angle, and stored adapters that are damaged or made up.

use autokit_adapter::{Adapter, Error, MAX_ANGLE_DEGREES};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

fn degrees(a: &[f32], b: &[f32]) -> f64 {
    let wide = |v: &[f32]| v.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    let (a, b) = (wide(a), wide(b));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let along = dot(&a, &b) / dot(&b, &b);
    let across: Vec<f64> = a.iter().zip(&b).map(|(x, y)| x - along * y).collect();
    dot(&across, &across).sqrt().atan2(along * dot(&b, &b).sqrt()).to_degrees()
}

fn normalized(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    (length > 1e-3).then(|| vector.iter().map(|x| x / length).collect())
}

fn numbers(count: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(-1.0_f32..1.0, count)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn no_query_turns_further_than_the_bound(
        (query, a, b) in (1..40_usize, 1..5_usize).prop_flat_map(|(dim, rank)| {
            (numbers(dim), numbers(dim * rank), numbers(rank * dim))
        }),
        // From next to nothing to far more than a fit ever gives.
        scale in (-12_i32..7).prop_map(|power| 2.0_f32.powi(power)),
    ) {
        let Some(query) = normalized(&query) else { return Ok(()) };
        let (dim, rank) = (query.len(), a.len() / query.len());
        let b = b.iter().map(|x| x * scale).collect();
        let adapted = Adapter::new("m", dim, rank, a, b).unwrap().adapt(&query).unwrap();
        prop_assert!(degrees(&adapted, &query) <= MAX_ANGLE_DEGREES);
        let length = adapted.iter().map(|x| x * x).sum::<f32>().sqrt();
        prop_assert!((length - 1.0).abs() < 1e-4);
    }

    #[test]
    fn a_stored_adapter_comes_back_as_it_was(a in numbers(12), b in numbers(12)) {
        let adapter = Adapter::new("m", 6, 2, a, b).unwrap();
        let stored = serde_json::to_string(&adapter).unwrap();
        prop_assert_eq!(serde_json::from_str::<Adapter>(&stored).unwrap(), adapter);
    }

    #[test]
    fn the_identity_returns_a_query_bit_for_bit(query in numbers(9)) {
        let Some(query) = normalized(&query) else { return Ok(()) };
        let adapted = Adapter::identity("m", 9).unwrap().adapt(&query).unwrap();
        let bits = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&adapted), bits(&query));
    }
}

#[test]
fn small_updates_are_added_as_they_are_and_large_ones_are_held() {
    let adapter = |size: f32| Adapter::new("m", 2, 1, vec![1.0, 0.0], vec![0.0, size]).unwrap();
    let small = adapter(0.1).adapt(&[1.0, 0.0]).unwrap();
    assert!((degrees(&small, &[1.0, 0.0]) - 0.1_f64.atan().to_degrees()).abs() < 1e-4);
    let large = adapter(50.0).adapt(&[1.0, 0.0]).unwrap();
    assert!((degrees(&large, &[1.0, 0.0]) - MAX_ANGLE_DEGREES).abs() < 2e-3);
    // Straight back there is no side to turn to.
    let back = Adapter::new("m", 2, 1, vec![1.0, 0.0], vec![-5.0, 0.0]).unwrap();
    assert_eq!(back.adapt(&[1.0, 0.0]).unwrap(), [1.0, 0.0]);
}

#[test]
fn queries_of_another_shape_are_refused() {
    let adapter = Adapter::identity("m", 3).unwrap();
    assert!(matches!(adapter.adapt(&[1.0, 0.0]), Err(Error::Length { expected: 3, got: 2, .. })));
    for query in [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [f32::NAN, 0.0, 0.0], [f32::INFINITY, 0.0, 0.0]] {
        assert!(matches!(adapter.adapt(&query), Err(Error::NotUnit { .. })));
    }
}

#[test]
fn broken_stored_adapters_are_refused() {
    let good = json!({ "model": "m", "dim": 3, "rank": 1, "a": [0.1, 0.2, 0.3], "b": [0.0, 0.0, 0.5] });
    assert!(serde_json::from_value::<Adapter>(good.clone()).is_ok());
    let broken = [
        ("model", json!("")),
        ("model", json!("m".repeat(300))),
        ("dim", json!(0)),
        ("dim", json!(4)),
        ("dim", json!(5000)),
        ("dim", json!(u64::MAX)),
        ("dim", json!(-3)),
        ("rank", json!(0)),
        ("rank", json!(17)),
        ("rank", json!(u64::MAX)),
        ("a", json!([0.1, 0.2])),
        ("a", json!([0.1, 0.2, null])),
        ("a", json!([0.1, 0.2, 1e39])),
        ("b", json!([0.1, 0.2, 1e30])),
        ("b", json!([0.1, 0.2, 2000.0])),
        ("b", json!([])),
        ("b", json!("AAAA")),
        ("other", json!(1)),
    ];
    for (field, value) in broken {
        let mut stored = good.clone();
        stored[field] = value.clone();
        assert!(serde_json::from_value::<Adapter>(stored).is_err(), "{field}: {value}");
    }
    let mut less = good;
    less.as_object_mut().map(|fields| fields.remove("b"));
    assert!(serde_json::from_value::<Adapter>(less).is_err());
    assert!(serde_json::from_value::<Adapter>(Value::Null).is_err());
}
