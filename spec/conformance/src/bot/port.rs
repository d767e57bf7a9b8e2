//! Where the bot connects.

use socket2::{Domain, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

/// Bots that come while no script waits for one.
const BACKLOG: i32 = 16;

/// A port of this machine, listened on or not. It stays this referee's while nobody listens: another program would get
/// the bot otherwise, or a bot that tries without a pause itself.
pub(crate) struct Port {
    keeper: Socket,
    listener: Option<TcpListener>,
}

impl Port {
    /// A free port, listened on.
    pub(crate) fn open() -> io::Result<Self> {
        let mut port = Self { keeper: bound(0)?, listener: None };
        port.listen()?;
        Ok(port)
    }

    pub(crate) fn number(&self) -> io::Result<u16> {
        let address = self.keeper.local_addr()?.as_socket().ok_or(io::ErrorKind::Unsupported)?;
        Ok(address.port())
    }

    /// From now on, who connects is let in.
    pub(crate) fn listen(&mut self) -> io::Result<()> {
        let socket = bound(self.number()?)?;
        socket.set_nonblocking(true)?;
        socket.listen(BACKLOG)?;
        self.listener = Some(socket.into());
        Ok(())
    }

    /// From now on, who connects is refused.
    pub(crate) fn close(&mut self) {
        self.listener = None;
    }

    /// The next connection, if there is one.
    pub(crate) fn accept(&self) -> io::Result<Option<TcpStream>> {
        match self.listener.as_ref().map(TcpListener::accept) {
            Some(Ok((stream, _))) => Ok(Some(stream)),
            Some(Err(error)) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(None),
        }
    }
}

/// A socket that shares its port with those of this user that share theirs.
fn bound(port: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_port(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
    Ok(socket)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails at once
mod tests {
    use super::*;

    #[test]
    fn nobody_else_gets_a_port_on_which_nobody_listens() {
        let mut port = Port::open().unwrap();
        let address = (Ipv4Addr::LOCALHOST, port.number().unwrap());
        TcpStream::connect(address).unwrap();
        assert!(port.accept().unwrap().is_some());
        port.close();
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(TcpListener::bind(address).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(port.accept().unwrap().is_none());
        port.listen().unwrap();
        TcpStream::connect(address).unwrap();
        assert!(port.accept().unwrap().is_some());
    }
}
