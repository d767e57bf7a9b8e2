//! The web port: today only a sign of life for monitors.

use axum::Router;
use axum::routing::get;
use std::io;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Serves until `stop`.
///
/// # Errors
/// The socket failed.
pub(crate) async fn serve(socket: TcpListener, stop: CancellationToken) -> io::Result<()> {
    let routes = Router::new().route("/healthz", get(async || "ok\n"));
    axum::serve(socket, routes).with_graceful_shutdown(stop.cancelled_owned()).await
}
