//! A list whose places are used again.

use std::ops::{Index, IndexMut};

#[derive(Default)]
pub(crate) struct Slab<T> {
    items: Vec<T>,
    free: Vec<usize>,
}

impl<T> Slab<T> {
    pub(crate) fn insert(&mut self, item: T) -> usize {
        if let Some(place) = self.free.pop() {
            self.items[place] = item;
            place
        } else {
            self.items.push(item);
            self.items.len() - 1
        }
    }

    /// The item stays readable until its place is used again.
    pub(crate) fn release(&mut self, place: usize) {
        self.free.push(place);
    }
}

impl<T> Index<usize> for Slab<T> {
    type Output = T;

    fn index(&self, place: usize) -> &T {
        &self.items[place]
    }
}

impl<T> IndexMut<usize> for Slab<T> {
    fn index_mut(&mut self, place: usize) -> &mut T {
        &mut self.items[place]
    }
}
