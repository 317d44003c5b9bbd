//! What servers and clients do without being asked: pings, statfs of the MDT, idle callback threads.

use super::{Event, Pen, Purpose, Regular, Simulation, Timer, opcode, say};

impl Simulation {
    /// A timer fires; it is set again as long as any process runs.
    pub(super) fn timer(&mut self, index: usize) {
        if self.running == 0 {
            return;
        }
        let Timer { every_us, does } = self.timers[index];
        self.events.at(self.now_us + every_us, Event::Timer(index));
        match does {
            Regular::Ping { mount, target } => {
                let export = self.world.export(mount, target);
                if export.connected && self.now_us - export.last_us + every_us / 8 >= every_us {
                    self.send(mount, target, opcode::OBD_PING, Purpose::Nothing);
                }
            }
            Regular::Statfs { mount, target } => {
                self.send(mount, target, opcode::OST_STATFS, Purpose::Nothing);
            }
            Regular::Idle { node } => {
                let pids = &self.world.nodes[node].bl_pids;
                let pid = pids[index % pids.len()];
                let mut pen = Pen { node, cpu: 0, pid, now_us: self.now_us };
                say!(self, &mut pen, bl_idle());
            }
        }
    }

    /// `lctl mark` on every server.
    pub(super) fn mark(&mut self, text: &str) {
        for node in 0..self.world.nodes.len() {
            let mut pen = Pen { node, cpu: 0, pid: 14_366, now_us: self.now_us };
            say!(self, &mut pen, marker(text));
        }
    }
}
