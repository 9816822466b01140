//! Measures building an index and searching it, over cards generated from a small vocabulary.
//!
//! `cargo run --release -p autokit-search --example search_speed -- [CARDS]`
#![allow(clippy::print_stdout, reason = "the figures are what this program prints")]

use std::time::Instant;

use autokit_search::{Document, Mode, Parameter, Query, QueryPlan, SearchIndex, Vectors};
// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

const DIMENSION: usize = 384;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Generates a word; words with low numbers are more frequent (density falls as in prose).
    fn word(&mut self) -> String {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        let mut number = 8000.0f64.powf(share) as u64 * 7919 % 64_000_000;
        let mut word = String::new();
        for _ in 0..4 {
            word.push(char::from(b"bcdfghklmnprstvwxyzj"[(number % 20) as usize]));
            word.push(char::from(b"aeiou"[(number / 20 % 5) as usize]));
            number /= 100;
        }
        word
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSION).map(|_| (self.next() >> 40) as f32 / (1u64 << 24) as f32 - 0.5).collect()
    }
}

fn percentile(times: &mut [f64], share: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    times[((times.len() - 1) as f64 * share) as usize]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cards: usize = std::env::args().nth(1).map_or(Ok(16_000), |n| n.parse())?;
    let mut random = Random(0x1234_5678_9abc_def1);
    let texts: Vec<[String; 5]> = (0..cards)
        .map(|i| {
            [
                format!("server{}", i % 200),
                format!("{}_{i}", random.words(2).replace(' ', "_")),
                random.words(45),
                random.word(),
                random.words(8),
            ]
        })
        .collect();
    let ids: Vec<String> = (0..cards).map(|i| format!("card{i:06}")).collect();
    let vectors: Vec<Vec<f32>> = (0..cards).map(|_| random.vector()).collect();
    let documents: Vec<Document<'_>> = texts
        .iter()
        .zip(&ids)
        .zip(&vectors)
        .map(|((t, id), vector)| Document {
            id,
            provider: &t[0],
            name: &t[1],
            description: &t[2],
            parameters: vec![Parameter { name: &t[3], description: &t[4] }; 2],
            vectors: Some(Vectors { tool: vector, asks_for: &[] }),
            ..Document::default()
        })
        .collect();
    let start = Instant::now();
    let mut index = SearchIndex::new();
    index.upsert_all(&documents)?;
    let built = start.elapsed().as_secs_f64();
    println!("{cards} cards built in {built:.2} s, {:?}", index.size());
    for (what, sentences, words) in [("short", 1, 6), ("long", 4, 12)] {
        for mode in [Mode::Keyword, Mode::Vector, Mode::Hybrid] {
            let mut times = Vec::new();
            for round in 0..210 {
                let text = (0..sentences).map(|_| random.words(words)).collect::<Vec<_>>().join(". ");
                let start = Instant::now();
                let plan = QueryPlan::new(&text);
                let planned = start.elapsed();
                let vectors: Vec<Vec<f32>> = plan.texts_to_embed().iter().map(|_| random.vector()).collect();
                let start = Instant::now();
                let hits =
                    index.search(&Query { plan: &plan, vectors: &vectors, mode, limit: 10, filter: None })?;
                let time = (planned + start.elapsed()).as_secs_f64() * 1e3;
                assert!(!hits.is_empty());
                if round >= 10 {
                    times.push(time);
                }
            }
            let at = |times: &mut [f64], share| percentile(times, share);
            println!(
                "{what} {mode:?}: fastest {:.2} ms, p50 {:.2} ms, p95 {:.2} ms",
                at(&mut times, 0.0),
                at(&mut times, 0.5),
                at(&mut times, 0.95)
            );
        }
    }
    Ok(())
}
