//! Hostile and broken input: silence, counters, and nothing else.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use bloomrf_engine::wire::lookup::{Candidates, LookupReply, LookupStatus};

use bloomrf_netio::link::udp::{UdpSender, host_losses};

use crate::http::get;
use crate::world::{Frames, LANES, World, packets, receive, wait_for};

/// A small seeded generator (splitmix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn seed() -> u64 {
    let seed = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20_260_901);
    println!("SEED={seed}");
    seed
}

#[test]
fn the_responder_is_silent_on_garbage_and_answers_the_next_question() {
    let world = World::start();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(world.node.ports().lookup).unwrap();
    let request = world.request(world.port_is(9), Candidates::List((1..=40).collect()));
    let mut good = Vec::new();
    request.encode(&mut good, true);
    let mut reply = Vec::new();
    LookupReply::nothing_excluded(1, LookupStatus::Ok, 8).encode(&mut reply);
    let mut state = seed();
    let mut sent = 0;
    for i in 0..300_usize {
        let bytes = match i % 4 {
            0 => (0..random(&mut state) % 1_400).map(|_| random(&mut state) as u8).collect(),
            1 => good[..random(&mut state) as usize % good.len()].to_vec(),
            2 => {
                let mut bytes = good.clone();
                let bit = random(&mut state) as usize % (bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
                bytes
            }
            _ => reply.clone(),
        };
        socket.send(&bytes).unwrap();
        sent += 1;
        // As much as the smallest socket buffer holds, however late the responder gets its turn.
        if sent % 50 == 0 {
            wait_for("garbage to be counted", || lookups_refused(&world) == sent);
        }
    }
    assert_eq!(receive(&socket, Duration::from_millis(1)), None);
    assert_eq!(world.ask(world.port_is(9), &[1]).no_filter, 1);
}

fn lookups_refused(world: &World) -> u64 {
    let metrics = get(world, "/metrics").1;
    let lines = metrics.lines().filter(|l| l.starts_with("fermihdi_bloomrf_lookup_refused{"));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[test]
fn no_datagram_stops_ingest_and_every_frame_is_accounted_for() {
    let mut world = World::start();
    let mut state = seed();
    for sent in 1..=200 {
        let length = random(&mut state) % 1_400;
        let bytes: Vec<u8> = (0..length).map(|_| random(&mut state) as u8).collect();
        world.send_frame(0, &bytes);
        if sent % 50 == 0 {
            let refused = || world.node.status().ingest.refused.iter().sum::<u64>();
            wait_for("garbage to be counted", || refused() == sent);
        }
    }
    world.send(1, &packets(200, 1_000));
    world.wait_verified(1);
    wait_for("all counters", || {
        let ingest = world.node.status().ingest;
        ingest.refused.iter().sum::<u64>() >= 200
            && ingest.frames_in
                == ingest.data
                    + ingest.close
                    + ingest.duplicate
                    + ingest.refused.iter().sum::<u64>()
    });
}

#[test]
fn copies_that_queues_leave_to_each_other_are_not_counted_as_lost() {
    let group = Ipv4Addr::new(239, 255, 71, 10);
    let probe = UdpSocket::bind("127.0.0.1:0").unwrap();
    if probe.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST).is_err() {
        return println!("skipped: no multicast here");
    }
    let before = host_losses().unwrap_or(0);
    let world = World::start_with(|config| {
        config.groups = vec![group.into()];
        config.queues = 2;
    });
    let target = (group, world.node.ports().ingest.port()).into();
    let mut lanes: Vec<UdpSender> =
        (0..LANES).map(|_| UdpSender::connect(&[target]).unwrap()).collect();
    let frames = Frames::of(&world.schema, 1, &packets(200, 1_000));
    world.scc.with(|scc| scc.right.insert(1, frames.hash));
    for (lane, frame) in frames.data.iter().chain(&frames.close) {
        let sender = &mut lanes[usize::from(*lane)];
        sender.set_multicast_interface(Ipv4Addr::LOCALHOST).unwrap();
        sender.send(frame).unwrap();
    }
    world.wait_verified(1);
    let dropped = world.node.status().dropped;
    let lost = host_losses().unwrap_or(u64::MAX) - before;
    assert!(dropped <= lost, "{dropped} counted, {lost} lost on the whole host");
}
