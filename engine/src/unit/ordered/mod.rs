//! Maps and sets in the order of their keys, at the price of little code.
//!
//! The standard ones are compiled anew for each kind of key, five to seven thousand bytes every time: a quarter of a
//! module that people wait for. These take a sixth of that.

mod map;
mod pieces;
mod set;

pub use map::Entries;
pub use map::Map;
pub use set::Set;

#[cfg(test)]
mod tests {
    use super::Map;
    use super::Set;
    use std::collections::BTreeMap;
    use std::collections::BTreeSet;

    /// Numbers that follow from each other, in no order.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }
    }

    #[test]
    fn a_set_is_as_the_standard_one() {
        for range in [3, 90, 5_000] {
            let (mut mine, mut standard, mut numbers) = (Set::new(), BTreeSet::new(), Numbers(range));
            // It grows first and shrinks then, so that pieces are divided and joined.
            for step in 0..20_000 {
                let member = numbers.below(range);
                let grows = numbers.below(10) < if step < 10_000 { 7 } else { 2 };
                if grows {
                    assert_eq!(mine.insert(member), standard.insert(member));
                } else {
                    assert_eq!(mine.remove(&member), standard.remove(&member));
                }
                assert_eq!(mine.contains(&member), grows);
                assert_eq!((mine.first(), mine.len()), (standard.first(), standard.len()));
                assert_eq!(mine.is_empty(), standard.is_empty());
                if step % 500 == 0 {
                    let from = numbers.below(range);
                    assert!(mine.range_from(&from).eq(standard.range(from..)));
                    assert!(mine.range_from(&from).rev().eq(standard.range(from..).rev()));
                    assert!(mine.iter().eq(&standard) && mine.iter().rev().eq(standard.iter().rev()));
                }
            }
            mine.retain(|member| member % 3 == 0);
            standard.retain(|member| member % 3 == 0);
            assert!(mine.iter().eq(&standard) && mine.len() == standard.len());
            assert_eq!(mine, standard.iter().rev().copied().collect());
        }
    }

    #[test]
    fn a_map_is_as_the_standard_one() {
        let (mut mine, mut standard, mut numbers) = (Map::new(), BTreeMap::new(), Numbers(1));
        for _ in 0..20_000 {
            let (key, value) = (numbers.below(700), numbers.below(1_000));
            match numbers.below(4) {
                0 => assert_eq!(mine.remove(&key), standard.remove(&key)),
                1 => assert_eq!(*mine.or_default(key), *standard.entry(key).or_default()),
                2 => assert_eq!(mine.get_mut(&key), standard.get_mut(&key)),
                _ => assert_eq!(mine.insert(key, value), standard.insert(key, value)),
            }
            assert_eq!(mine.get(&key), standard.get(&key));
        }
        assert!(mine.iter().eq(&standard));
        assert!(mine.range_from(&350).eq(standard.range(350..)));
        assert!(mine.into_iter().eq(standard));
    }

    #[test]
    fn they_are_written_as_the_standard_ones() {
        let map: Map<String, i64> = [("b", 2), ("a", 1)].map(|(key, value)| (key.to_owned(), value)).into();
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(text, r#"{"a":1,"b":2}"#);
        assert_eq!(serde_json::from_str::<Map<String, i64>>(&text).unwrap(), map);
        let set: Set<u32> = [3, 1, 3].into();
        assert_eq!(serde_json::to_string(&set).unwrap(), "[1,3]");
        assert_eq!(serde_json::from_str::<Set<u32>>("[3,1,3]").unwrap(), set);
    }
}
