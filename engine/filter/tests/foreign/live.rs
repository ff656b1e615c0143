//! A live Redis, where there is one to start: plain RESP over a loopback connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A Redis of this test, on a port that was free; it ends with the test.
pub(crate) struct Redis {
    folder: tempfile::TempDir,
    server: Child,
    stream: BufReader<TcpStream>,
}

impl Redis {
    /// `None` where there is no `redis-server`.
    pub(crate) fn start() -> Option<Redis> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let server = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "no", "--dir", folder.path().to_str().unwrap()])
            .stdout(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            println!("skipped: no redis-server");
            return None;
        };
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                return Some(Redis { folder, server, stream: BufReader::new(stream) });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        server.kill().unwrap();
        panic!("redis-server does not listen");
    }

    /// Where it saves its file.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The bulk strings of the reply; a number or a status is one.
    pub(crate) fn ask(&mut self, words: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend(format!("${}\r\n", word.len()).bytes());
            request.extend(*word);
            request.extend(b"\r\n");
        }
        self.stream.get_mut().write_all(&request).unwrap();
        self.reply()
    }

    fn reply(&mut self) -> Vec<Option<Vec<u8>>> {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let rest = line[1..].trim_end();
        match line.as_bytes()[0] {
            b'*' => (0..rest.parse::<usize>().unwrap()).flat_map(|_| self.reply()).collect(),
            b'$' if rest == "-1" => vec![None],
            b'$' => {
                let mut bytes = vec![0; rest.parse::<usize>().unwrap() + 2];
                self.stream.read_exact(&mut bytes).unwrap();
                bytes.truncate(bytes.len() - 2);
                vec![Some(bytes)]
            }
            b'+' | b':' => vec![Some(rest.as_bytes().to_vec())],
            _ => panic!("{line}"),
        }
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        _ = self.server.kill();
        _ = self.server.wait();
    }
}
