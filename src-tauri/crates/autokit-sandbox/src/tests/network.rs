//! Tests that a job can neither reach the network nor be reached.

use std::io::ErrorKind;
use std::net::TcpListener;

use super::python;

#[tokio::test]
async fn no_address_can_be_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("not blocking");
    let port = listener.local_addr().expect("an address").port();
    let code = format!(
        "import socket\n\
         def refused(what, f):\n\
         \x20   try: f(); print('REACHED', what)\n\
         \x20   except OSError as e: print(what, type(e).__name__)\n\
         for host, port in [('127.0.0.1', {port}), ('1.1.1.1', 53), ('::1', {port})]:\n\
         \x20   refused(host, lambda: socket.create_connection((host, port), 1))\n\
         refused('dns', lambda: socket.getaddrinfo('example.com', 80))\n\
         refused('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))\n\
         refused('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))\n\
         refused('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))\n\
         refused('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))\n\
         refused('vsock', lambda: socket.socket(40, socket.SOCK_STREAM))\n\
         refused('alg', lambda: socket.socket(38, socket.SOCK_SEQPACKET))\n"
    );
    let said = python(&code).await;
    assert!(!said.contains("REACHED"), "{said}");
    assert_eq!(said.lines().count(), 10, "{said}");
    for family in ["udp", "raw", "packet", "netlink", "vsock", "alg", "127.0.0.1"] {
        assert!(said.contains(&format!("{family} PermissionError\n")), "{family}: {said}");
    }
    let came = listener.accept().expect_err("nobody connects");
    assert_eq!(came.kind(), ErrorKind::WouldBlock);
}

#[tokio::test]
async fn sockets_of_the_machine_are_out_of_sight() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
    let said = python(&format!(
        "import socket, os\n\
         def s_inode(s): return str(os.fstat(s.fileno()).st_ino)\n\
         s = socket.socket(socket.AF_UNIX)\n\
         try: s.connect({path:?}); print('REACHED')\n\
         except OSError as e: print(type(e).__name__)\n\
         print(sorted(os.listdir('/sys/class/net')) if os.path.exists('/sys') else 'no /sys')\n\
         print([l.split(':')[0].strip() for l in open('/proc/net/dev') if ':' in l])\n\
         print([l for l in open('/proc/net/unix').readlines()[1:] if l.split()[-1] != s_inode(s)])\n"
    ))
    .await;
    // Abstract sockets belong to the network namespace.
    assert_eq!(said, "FileNotFoundError\nno /sys\n['lo']\n[]\n");
}
