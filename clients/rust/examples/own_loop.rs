//! Plays two games in practice by a loop of its own.
#![allow(clippy::print_stdout)] // the results

use modiar_client::{Client, Settings};

fn main() -> Result<(), modiar_client::Error> {
    let client = Client::connect(Settings::new().games(2).ended(|ended| println!("{ended}")))?;
    for turn in client.turns("practice", 2)? {
        let turn = turn?;
        turn.play(turn.legal[0])?;
    }
    client.close();
    Ok(())
}
