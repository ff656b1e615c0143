//! DPDK's own `net_af_packet` over the same pair. Its environment starts once per process and
//! belongs to the thread that starts it, so one test does it all.

use bloomrf_lab::{Layout, Side};
use bloomrf_netio::Framing;
use bloomrf_netio::link::{LinkSpec, open, shutdown};

use crate::common::{frame, gather, lab, options, send, sender};

#[test]
fn dpdk_receives_each_frame_once_over_one_and_two_queues() {
    let layouts = [1, 2].map(|queues| Layout { queues, ..Layout::default() });
    let labs = layouts.map(|layout| lab(&layout));
    for (number, lab) in labs.iter().enumerate() {
        let Some(lab) = lab else { return };
        let queues = number + 1;
        let device = format!(
            "dpdk:net_af_packet{number},iface=veth-a,qpairs={queues},blocksz=1048576,\
             framesz=2048,framecnt=16384"
        );
        let spec: LinkSpec = device.parse().unwrap();
        let mut links = lab.inside(Side::A, || open(&spec, &options(queues)).unwrap().links);
        assert_eq!(links[0].framing(), Framing::Frames);
        let mut sender = sender(lab, Side::B);
        let sent: Vec<Vec<u8>> =
            (0..5_000).map(|n| frame(n, None, 64 + n as usize % 900)).collect();
        sent.iter().for_each(|frame| send(&mut sender, frame));
        let mut received = Vec::new();
        for link in &mut links {
            let (sum, before) = (sent.len() - received.len(), received.len());
            received.extend(gather(&mut **link, sum).into_iter().map(|(bytes, _)| bytes));
            assert!(received.len() > before, "{queues} queues");
        }
        received.sort_by_key(|frame| frame[42..46].to_vec());
        assert_eq!(received.len(), sent.len(), "{queues} queues");
        assert!(received == sent);
        let dropped: u64 = links.iter().map(|link| link.stats().dropped.sum()).sum();
        let counted: u64 = links.iter().map(|link| link.stats().received).sum();
        assert_eq!((counted, dropped), (sent.len() as u64, 0));
    }
    shutdown().unwrap();
}
