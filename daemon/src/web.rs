//! The web port: what monitors ask.

use crate::lobby::Hall;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::io;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// What [`metrics`] writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves until `stop`.
///
/// # Errors
/// The socket failed.
pub(crate) async fn serve(socket: TcpListener, hall: Arc<Hall>, stop: CancellationToken) -> io::Result<()> {
    let routes = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(hall);
    axum::serve(socket, routes).with_graceful_shutdown(stop.cancelled_owned()).await
}

/// Whether games start: 200, or 503 and why not, a reason a line.
async fn ready(State(hall): State<Arc<Hall>>) -> Response {
    readiness(&hall.obstacles())
}

fn readiness(obstacles: &[&str]) -> Response {
    if obstacles.is_empty() {
        "ready\n".into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, obstacles.join("\n") + "\n").into_response()
    }
}

async fn metrics(State(hall): State<Arc<Hall>>) -> Response {
    match hall.metrics().render() {
        Ok(text) => ([(CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_obstacle_is_a_line() {
        assert_eq!(readiness(&[]).status(), StatusCode::OK);
        for obstacles in [&["draining"][..], &["disk full"], &["disk full", "overloaded"]] {
            let answer = readiness(obstacles);
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
            let body = axum::body::to_bytes(answer.into_body(), 1000).await.unwrap();
            assert_eq!(body, format!("{}\n", obstacles.join("\n")));
        }
    }
}
