//! The numbers of layouts.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

use modiar_oracle::{LAYOUTS, Layer, Layout};

/// Every layout has one number and every number one layout, in order.
#[test]
fn numbers_and_layouts_go_together() {
    let mut next = 0;
    for layer in Layer::all() {
        assert_eq!(layer.offset(), next);
        for layout in layer.layouts() {
            assert_eq!((layout.number(), layout.seeds()), (Some(next), layer.seeds()));
            next += 1;
        }
    }
    assert_eq!(next, LAYOUTS);
}

#[test]
fn what_no_game_leads_to_has_no_number() {
    for pits in
        [[0, 0, 0, 0, 0, 1], [7, 7, 7, 7, 7, 6], [7, 7, 7, 7, 7, 8], [44, 0, 0, 0, 0, 0], [255; 6], [64, 0, 0, 0, 0, 0]]
    {
        assert_eq!(Layout::from_pits(pits).number(), None, "{pits:?}");
    }
    assert_eq!(Layer::of(41), None);
    assert_eq!(Layer::of(44), None);
}
