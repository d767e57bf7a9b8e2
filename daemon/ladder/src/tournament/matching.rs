//! The largest matching of a graph: as many as can be have one partner each (Edmonds' blossoms).

use std::collections::VecDeque;

/// Who has whom, of `count` of whom these may have each other.
pub(super) fn largest(count: usize, may: impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let mut search = Search { may, mate: vec![None; count], parent: Vec::new(), base: Vec::new(), seen: Vec::new() };
    search.begin();
    for root in 0..count {
        if search.mate[root].is_none()
            && let Some(end) = search.path(root)
        {
            search.turn(end);
        }
    }
    search.mate
}

struct Search<F> {
    may: F,
    mate: Vec<Option<usize>>,
    /// From which one was come to, on a path from the root.
    parent: Vec<Option<usize>>,
    /// The base of the blossom that one lies in; itself where in none.
    base: Vec<usize>,
    seen: Vec<bool>,
}

impl<F: Fn(usize, usize) -> bool> Search<F> {
    /// Partners at first sight, so that few have to be searched for.
    fn begin(&mut self) {
        for one in 0..self.mate.len() {
            let free = (one + 1..self.mate.len()).find(|other| self.mate[*other].is_none() && (self.may)(one, *other));
            if let (None, Some(other)) = (self.mate[one], free) {
                (self.mate[one], self.mate[other]) = (Some(other), Some(one));
            }
        }
    }

    /// The end of a path from `root` on which partners may be changed so that both ends get one.
    fn path(&mut self, root: usize) -> Option<usize> {
        let count = self.mate.len();
        self.parent = vec![None; count];
        self.base = (0..count).collect();
        self.seen = vec![false; count];
        self.seen[root] = true;
        let mut queue = VecDeque::from([root]);
        while let Some(one) = queue.pop_front() {
            for other in 0..count {
                if one == other
                    || !(self.may)(one, other)
                    || self.base[one] == self.base[other]
                    || self.mate[one] == Some(other)
                {
                    continue;
                }
                let inner = self.mate[other].is_some_and(|mate| self.parent[mate].is_some());
                if other == root || inner {
                    self.shrink(one, other, &mut queue);
                } else if self.parent[other].is_none() {
                    self.parent[other] = Some(one);
                    let Some(mate) = self.mate[other] else { return Some(other) };
                    self.seen[mate] = true;
                    queue.push_back(mate);
                }
            }
        }
        None
    }

    /// The two ends of an edge lie on one blossom: all of it is as its base from now on.
    fn shrink(&mut self, one: usize, other: usize, queue: &mut VecDeque<usize>) {
        let base = self.common(one, other);
        let mut blossom = vec![false; self.mate.len()];
        self.mark(one, base, other, &mut blossom);
        self.mark(other, base, one, &mut blossom);
        for place in 0..self.mate.len() {
            if blossom[self.base[place]] {
                self.base[place] = base;
                if !self.seen[place] {
                    self.seen[place] = true;
                    queue.push_back(place);
                }
            }
        }
    }

    /// The base that both come from.
    fn common(&self, one: usize, other: usize) -> usize {
        let mut passed = vec![false; self.mate.len()];
        let mut place = one;
        loop {
            place = self.base[place];
            passed[place] = true;
            let Some(before) = self.before(place) else { break };
            place = before;
        }
        place = self.base[other];
        while !passed[place] {
            let Some(before) = self.before(place) else { break };
            place = self.base[before];
        }
        place
    }

    /// Two steps towards the root.
    fn before(&self, place: usize) -> Option<usize> {
        self.parent[self.mate[place]?]
    }

    fn mark(&mut self, mut place: usize, base: usize, mut child: usize, blossom: &mut [bool]) {
        while self.base[place] != base {
            let Some(mate) = self.mate[place] else { return };
            blossom[self.base[place]] = true;
            blossom[self.base[mate]] = true;
            self.parent[place] = Some(child);
            child = mate;
            let Some(before) = self.parent[mate] else { return };
            place = before;
        }
    }

    /// Changes partners on the path that ends here.
    fn turn(&mut self, end: usize) {
        let mut place = Some(end);
        while let Some(one) = place {
            let Some(other) = self.parent[one] else { return };
            place = self.mate[other];
            (self.mate[one], self.mate[other]) = (Some(other), Some(one));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::seeding::chance;

    /// The most partners there can be, by trying all ways.
    fn most(left: &[usize], may: &dyn Fn(usize, usize) -> bool) -> usize {
        let Some((one, rest)) = left.split_first() else { return 0 };
        let with = rest.iter().filter(|other| may(*one, **other)).map(|other| {
            let others: Vec<usize> = rest.iter().copied().filter(|left| left != other).collect();
            2 + most(&others, may)
        });
        with.max().unwrap_or(0).max(most(rest, may))
    }

    #[test]
    fn it_is_as_large_as_trying_everything_finds() {
        for case in 0..3000u64 {
            let count = 2 + (case % 8) as usize;
            let many = 1 + case % 5;
            let may = |one: usize, other: usize| {
                let (low, high) = (one.min(other) as u64, one.max(other) as u64);
                chance(case, low * 64 + high) % 6 < many
            };
            let mate = largest(count, may);
            let all: Vec<usize> = (0..count).collect();
            assert_eq!(mate.iter().flatten().count(), most(&all, &may), "case {case}");
            for (one, other) in mate.iter().enumerate().filter_map(|(one, other)| Some((one, (*other)?))) {
                assert!(mate[other] == Some(one) && may(one, other), "case {case}");
            }
        }
    }
}
