//! What servers and clients do without being asked: pings, statfs of the MDT, idle callback threads.

use super::events::Event;
use super::log::Pen;
use super::opcode;
use super::request::Purpose;
use super::say::say;
use super::simulation::Simulation;
use super::timer::Timer;

impl Simulation {
    /// A timer fires; it is set again as long as any process runs.
    pub(super) fn timer(&mut self, index: usize) {
        if self.running == 0 {
            return;
        }
        let timer = self.timers[index];
        self.events.at(self.now_us + timer.every_us(), Event::Timer(index));
        match timer {
            Timer::Ping { mount, target, every_us } => {
                let export = self.world.export(mount, target);
                if export.connected && self.now_us - export.last_us + every_us / 8 >= every_us {
                    self.send(mount, target, opcode::OBD_PING, Purpose::Nothing);
                }
            }
            Timer::Statfs { mount, target, .. } => {
                self.send(mount, target, opcode::OST_STATFS, Purpose::Nothing);
            }
            Timer::Idle { node, .. } => {
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
