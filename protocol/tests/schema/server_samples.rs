//! Messages of the server and records, each in as many forms as it takes to show every field, and every field left out.

use modiar_protocol::server::{
    ChallengeEnd, ChallengeSide, Challenged, Challenger, Ended, Error, Last, Moved, Openings, Player, PoolInfo,
    PoolRating, RatingChange, SeekEnd, Started, Turn, Welcome, WelcomeLimits, WelcomedBot,
};
use modiar_protocol::{
    BotName, ChallengeId, Detail, ErrorCode, GameId, GameResult, GameRules, GoodbyeReason, PitList, Record, RecordSeat,
    Ref, SeatRating, Secret, ServerMessage, Sides, Termination, TimeControl, UnfinishedTurn, ZERO_HASH,
};
use modiar_rules::{EndRules, Pit, PitSet, Side};
use std::collections::BTreeMap;

const PITS: [u8; 6] = [7; 6];
const CAPTURED: Sides<u8> = Sides { south: 0, north: 42 };
const REMAINING: Sides<u64> = Sides { south: 0, north: 30_000 };

fn game() -> GameId {
    GameId::read("g0192f0c1a2b37c4d8e5f60718293a4b5")
}

fn challenge() -> ChallengeId {
    ChallengeId::read("c0192f0c1a2b37c4d8e5f60718293a4b5")
}

fn name() -> BotName {
    BotName::new("Tanja").unwrap()
}

fn mark() -> Option<Ref> {
    Some(Ref::Integer(1))
}

fn pit() -> Pit {
    Pit::new(4).unwrap()
}

fn legal() -> PitList {
    PitList([0, 1, 2].into_iter().filter_map(Pit::new).collect::<PitSet>())
}

fn times() -> [TimeControl; 2] {
    [Some(1000), None].map(|move_ms| TimeControl { base_ms: 30_000, increment_ms: 200, grace_ms: 50, move_ms })
}

fn rules() -> GameRules {
    GameRules::new(EndRules { repetition: 3, quiet_plies: 0, majority: true }, 3)
}

fn detail() -> Detail {
    Detail { pit: pit(), clause: "rules.move.own-row".into(), legal: legal() }
}

fn endeds() -> Vec<Ended> {
    let ended = Ended {
        game: game(),
        result: GameResult::North,
        termination: Termination::IllegalMove,
        score: CAPTURED,
        pits: PITS,
        ply: 0,
        detail: Some(detail()),
        rating: Some(RatingChange { before: 1500.0, after: 1487.25, rd: 290.3 }),
    };
    let bare = Ended { termination: Termination::Resignation, detail: None, rating: None, ..ended };
    let (result, termination) = (GameResult::None, Termination::Aborted);
    vec![Ended { result, termination, ..bare.clone() }, ended, bare]
}

fn welcomes() -> [ServerMessage; 2] {
    let pools = times().map(|time| PoolInfo {
        name: "blitz".to_owned(),
        time,
        rated: true,
        openings: Openings::Balanced,
        rules: rules(),
    });
    let ratings = BTreeMap::from([("blitz".to_owned(), PoolRating { rating: 1500.0, rd: 350.0, games: 0 })]);
    let full = Welcome {
        protocol: 1,
        server: "modiar/0.1.0".to_owned(),
        bot: WelcomedBot { name: name(), guest: false, ratings },
        token: Some(Secret::new("modiar-9b088a0d5d9215b3a7055f874a7dde85278ae79db9f56409db276371e97c5594")),
        resume: Some(Secret::new("modiar-7e261f3a39f689e8e8fc7372849d305f759113bf7ea6ddc358fb5206c73dcf92")),
        pools: pools.to_vec(),
        limits: WelcomeLimits { line_bytes: 4096, messages_per_s: 20, games: 64 },
        games: vec![game()],
        missed: endeds(),
        reference: mark(),
    };
    let bare = Welcome { token: None, resume: None, missed: Vec::new(), reference: None, ..full.clone() };
    [full, bare].map(|welcome| ServerMessage::Welcome(Box::new(welcome)))
}

fn started() -> Vec<ServerMessage> {
    let full = Player { name: name(), guest: false, rating: Some(1500.0), version: Some("0.3.1".to_owned()) };
    let bare = Player { rating: None, version: None, guest: true, ..full.clone() };
    let [limited, time] = times();
    let started = Started {
        game: game(),
        pool: "blitz".to_owned(),
        rated: true,
        side: Some(Side::South),
        spectator: false,
        south: full,
        north: bare,
        time: limited,
        rules: rules(),
        opening: String::new(),
        moves: "240315".to_owned(),
        ply: 7,
        side_to_move: Side::South,
        pits: PITS,
        captured: CAPTURED,
        remaining_ms: REMAINING,
        resumed: true,
        reference: None,
    };
    let watched = Started { side: None, spectator: true, time, resumed: false, reference: mark(), ..started.clone() };
    [started, watched].map(|started| ServerMessage::Started(Box::new(started))).into()
}

fn plies() -> Vec<ServerMessage> {
    let last = Last { ply: 1, side: Side::South, pit: pit(), taken: 0, elapsed_ms: 0 };
    let turn = Turn {
        game: game(),
        ply: u32::MAX,
        side: Side::North,
        pits: PITS,
        captured: CAPTURED,
        legal: legal(),
        remaining_ms: REMAINING,
        last: Some(last),
    };
    let moved = Moved {
        game: game(),
        ply: 1,
        side: Side::North,
        pit: pit(),
        taken: 42,
        elapsed_ms: 0,
        pits: PITS,
        captured: CAPTURED,
        remaining_ms: REMAINING,
    };
    vec![ServerMessage::Turn(turn), ServerMessage::Turn(Turn { last: None, ..turn }), ServerMessage::Moved(moved)]
}

fn errors() -> Vec<ServerMessage> {
    let error = |code| Error::new(code, "what is wrong");
    let illegal = Error {
        game: Some(game()),
        clause: Some("rules.move.own-row".into()),
        legal: Some(legal()),
        reference: mark(),
        ..error(ErrorCode::IllegalMove)
    };
    let field = Error { field: Some("pit".into()), ..error(ErrorCode::BadField) };
    let protocol = Error { supported: Some(vec![1]), fatal: true, ..error(ErrorCode::BadProtocol) };
    let errors = vec![illegal, field, protocol, error(ErrorCode::BadJson)];
    errors.into_iter().map(|error| ServerMessage::Error(Box::new(error))).collect()
}

fn lobby(reference: Option<&Ref>) -> Vec<ServerMessage> {
    let reference = reference.cloned();
    let full = reference.is_some();
    let pool = "blitz".to_owned();
    let challenged = Challenged {
        challenge: challenge(),
        from: Challenger { name: name(), rating: full.then_some(1500.0) },
        pool: pool.clone(),
        side: ChallengeSide::Random,
        rated: full,
        games: 1_000_000,
        expires_ms: 60_000,
    };
    let (end, until_ms) = if full { (SeekEnd::Penalised, Some(1)) } else { (SeekEnd::Done, None) };
    vec![
        ServerMessage::Seeking {
            pool: pool.clone(),
            waiting: 1,
            reason: full.then(|| "at its games limit".to_owned()),
            reference: reference.clone(),
        },
        ServerMessage::SeekEnded {
            pool,
            reason: end,
            until_ms,
            message: full.then(|| "the bot did not show up".to_owned()),
            reference: reference.clone(),
        },
        ServerMessage::Challenged(Box::new(challenged)),
        ServerMessage::ChallengeSent { challenge: challenge(), reference: reference.clone() },
        ServerMessage::ChallengeEnded {
            challenge: challenge(),
            reason: ChallengeEnd::Expired,
            reference: reference.clone(),
        },
        ServerMessage::Notice {
            code: ErrorCode::Draining,
            message: "the server stops".to_owned(),
            until_ms: full.then_some(0),
        },
        ServerMessage::Goodbye {
            reason: if full { GoodbyeReason::Bye } else { GoodbyeReason::Banned },
            message: "goodbye".into(),
            reference: reference.clone(),
        },
        ServerMessage::Pong { time_ms: 0, reference: reference.clone() },
        ServerMessage::Unwatched { game: game(), reference },
    ]
}

/// Every message of the server; a match keeps the list complete.
pub(crate) fn messages() -> Vec<ServerMessage> {
    const fn complete(message: &ServerMessage) {
        match message {
            ServerMessage::Welcome(_)
            | ServerMessage::Seeking { .. }
            | ServerMessage::SeekEnded { .. }
            | ServerMessage::Challenged(_)
            | ServerMessage::ChallengeSent { .. }
            | ServerMessage::ChallengeEnded { .. }
            | ServerMessage::Started(_)
            | ServerMessage::Turn(_)
            | ServerMessage::Moved(_)
            | ServerMessage::Ended(_)
            | ServerMessage::Error(_)
            | ServerMessage::Notice { .. }
            | ServerMessage::Goodbye { .. }
            | ServerMessage::Pong { .. }
            | ServerMessage::Unwatched { .. } => {}
        }
    }
    let mut messages = lobby(None);
    messages.extend(lobby(mark().as_ref()));
    messages.extend(welcomes());
    messages.extend(started());
    messages.extend(plies());
    messages.extend(errors());
    messages.extend(endeds().into_iter().map(|ended| ServerMessage::Ended(Box::new(ended))));
    messages.iter().for_each(complete);
    messages
}

/// Records: of a rated game lost by an illegal move, and of an aborted one among guests.
pub(crate) fn records() -> [Record; 2] {
    let rating = SeatRating { rating: 1500.0, rd: 350.0, volatility: 0.06 };
    let account = RecordSeat {
        name: name(),
        guest: false,
        version: Some("0.3.1".to_owned()),
        rating: Some(1500.0),
        rd: Some(350.0),
        volatility: Some(0.06),
    };
    let guest = RecordSeat { guest: true, version: None, rating: None, rd: None, volatility: None, ..account.clone() };
    let [limited, time] = times();
    let rated = Record {
        record: 1,
        seq: 1,
        prev: ZERO_HASH.to_owned(),
        game: game(),
        pool: "blitz".to_owned(),
        rated: true,
        started: "2026-11-05T12:00:00.000000Z".to_owned(),
        ended: "2026-11-05T12:00:01.250000Z".to_owned(),
        time: limited,
        rules: rules(),
        south: account.clone(),
        north: account,
        opening: String::new(),
        moves: "24".to_owned(),
        elapsed_us: vec![0, 50_001],
        own_us: vec![0, 0],
        charged_us: vec![0, 1],
        remaining_us: Sides { south: 30_200_000, north: 30_199_999 },
        unfinished_turn: Some(UnfinishedTurn { elapsed_us: 1, own_us: 0, charged_us: 0 }),
        result: GameResult::North,
        termination: Termination::IllegalMove,
        detail: Some(detail()),
        score: CAPTURED,
        pits: PITS,
        rating_after: Some(Sides { south: rating, north: rating }),
        node: "local".to_owned(),
        server: "modiar/0.1.0".to_owned(),
    };
    let aborted = Record {
        rated: false,
        time,
        south: guest.clone(),
        north: guest,
        unfinished_turn: None,
        result: GameResult::None,
        termination: Termination::Aborted,
        detail: None,
        rating_after: None,
        ..rated.clone()
    };
    [rated, aborted]
}
