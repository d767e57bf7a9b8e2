//! The web port: what monitors ask, and bots that speak WebSocket.

use crate::lobby::Hall;
use crate::net::{Backlog, Entrance, WEB_CONNECTIONS, greeting};
use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::Request;
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, CONTENT_TYPE, HeaderValue, UPGRADE};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// What [`metrics`] writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// How long one connection may take, from its accepting until its answer is written.
const PATIENCE: Duration = Duration::from_secs(5);
/// What a connection reads for which there is no place.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 21\r\n\r\ntoo many connections\n";

/// Serves until `stop`. A connection is for one request: nobody holds a place without a question.
pub(crate) async fn serve(socket: TcpListener, hall: Arc<Hall>, entrance: Arc<Entrance>, stop: CancellationToken) {
    let routes = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(hall)
        .merge(Router::new().route("/ws", get(web_socket)).with_state(entrance))
        .layer(map_response(once));
    let service = TowerToHyperService::new(routes);
    let places = Arc::new(Semaphore::new(WEB_CONNECTIONS.into()));
    let mut backlog = Backlog::new(socket);
    while let Some((stream, peer)) = stop.run_until_cancelled(backlog.accept()).await {
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            // As far as it goes: whoever comes too often is not waited for.
            let _ = stream.try_write(FULL);
            continue;
        };
        let service = service.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            service.call(request)
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades();
        let stop = stop.clone();
        tokio::spawn(async move {
            // One that broke, was late or was cut off by the stop concerns its peer alone.
            let _ = stop.run_until_cancelled(timeout(PATIENCE, connection)).await;
            drop(place);
        });
    }
}

/// A connection is for one answer, or speaks WebSocket after it.
async fn once(mut answer: Response) -> Response {
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
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

/// Lets a bot in that speaks WebSocket (`transport.websocket`); whoever asks for none is told how.
async fn web_socket(
    State(entrance): State<Arc<Entrance>>,
    Extension(peer): Extension<SocketAddr>,
    mut request: Request<Body>,
) -> Response {
    let answer = match greeting(&request) {
        Ok(answer) => answer.map(|()| Body::empty()),
        Err(error) => {
            let text = format!("{error}; this is the bots' door for WebSocket: connect to it by ws://\n");
            return (StatusCode::UPGRADE_REQUIRED, [(UPGRADE, "websocket")], text).into_response();
        }
    };
    let upgrade = hyper::upgrade::on(&mut request);
    // It ends with the connection, which its peer or the five seconds end.
    tokio::spawn(async move {
        let Ok(upgraded) = upgrade.await else { return };
        if let Ok(parts) = upgraded.downcast::<TokioIo<TcpStream>>() {
            entrance.admit_web_socket(parts.io.into_inner(), peer, &parts.read_buf);
        }
    });
    answer
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
