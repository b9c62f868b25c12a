// The lease as a driver meets it: one JSON object a line, on stdin and stdout. `node lease_subject.mjs`, or with
// the name of a class below, one that is wrong on purpose.

import { createInterface } from "node:readline";
import { Judge, LeaseHost } from "./lease.mjs";

class ForgetsTheTerminus extends LeaseHost {
  standing(key, holder) {
    const lease = this.leases.get(key);
    return lease && lease.holder === holder ? lease : null; // whether it has ended is no longer asked
  }
}

class CountsTheInstantIn extends Judge {
  admit(instant) {
    return this.clock.now() <= instant ? "ADMITTED" : "LATE";
  }
}

const wrong = process.argv[2];
const Host = wrong === "ForgetsTheTerminus" ? ForgetsTheTerminus : LeaseHost;
const JudgeOfActs = wrong === "CountsTheInstantIn" ? CountsTheInstantIn : Judge;

class HandClock {
  constructor(instant) {
    this.instant = instant;
  }
  now() {
    return this.instant;
  }
}

// The world around the lease: the workers' memory, the act in flight, and time, which a driver moves.
class World {
  constructor({ WORKERS, LEASE, ALLOWANCE, LAG }) {
    this.duration = LEASE;
    this.allowance = ALLOWANCE;
    this.hostClock = new HandClock(1000);
    this.judgeClock = new HandClock(1000 - LAG);
    this.host = new Host(this.hostClock);
    this.judge = new JudgeOfActs(this.judgeClock);
    this.workers = Array.from({ length: WORKERS }, () => ({ life: 0, terminus: null, deadline: null }));
    this.act = null;
  }

  named(worker) {
    return `worker ${worker} life ${this.workers[worker].life}`;
  }

  entered(worker, { answer, expiresAt, deadline }) {
    const memory = this.workers[worker];
    memory.deadline = answer === "WAITING" ? deadline : null;
    if (expiresAt !== undefined) memory.terminus = expiresAt;
    return answer;
  }

  ask(worker) {
    return this.entered(worker, this.host.ask("key", this.named(worker), this.duration));
  }

  poll(worker) {
    const { deadline } = this.workers[worker];
    return this.entered(worker, this.host.poll("key", this.named(worker), this.duration, deadline));
  }

  try_take(worker) {
    return this.entered(worker, this.host.tryTake("key", this.named(worker), this.duration));
  }

  remaining(worker) {
    return this.host.remaining("key", this.named(worker));
  }

  release(worker) {
    const answer = this.host.release("key", this.named(worker));
    if (answer === "RELEASED") this.workers[worker].terminus = null;
    return answer;
  }

  mint(worker) {
    const instant = this.host.mint("key", this.named(worker), this.allowance);
    if (instant === null) return null;
    this.act = { instant, terminus: this.workers[worker].terminus ?? this.hostClock.now() };
    return instant - this.hostClock.now();
  }

  admit() {
    const { instant } = this.act;
    this.act = null;
    return this.judge.admit(instant);
  }

  die(worker) {
    const memory = this.workers[worker];
    memory.life += 1;
    memory.terminus = memory.deadline = null;
  }

  pass_time() {
    this.hostClock.instant += 1;
    this.judgeClock.instant += 1;
  }

  left(instant) {
    return instant === null ? 0 : Math.max(instant - this.hostClock.now(), 0);
  }

  variables() {
    const lease = this.host.leases.get("key");
    const holder = this.workers.findIndex((_, worker) => lease && lease.holder === this.named(worker));
    return {
      holder: holder < 0 ? null : holder,
      left: lease ? this.left(lease.expiresAt) : 0,
      standing: this.workers.map(({ terminus }) => this.left(terminus)),
      waiting: this.workers.map(({ deadline }) => (deadline === null ? null : this.left(deadline))),
      act: {
        sent: this.act !== null,
        instant: this.act ? Math.max(this.act.instant - this.judgeClock.now(), 0) : 0,
        lease: this.act ? this.left(this.act.terminus) : 0,
      },
    };
  }
}

let world = null;

const answers = {
  hello: () => ({
    protocol: 1,
    model: "falsework.models.lease:Lease",
    surface: "driven JavaScript",
    refuses: [],
    internal: [],
  }),
  begin({ constants }) {
    world = new World(constants);
    return {};
  },
  perform({ action, arguments: { worker } }) {
    const answer = world[action](worker);
    return answer === undefined ? {} : { answer };
  },
  observe: () => ({ variables: world.variables() }),
  close: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ id: message.id, is: "ok", ...answers[message.do](message) })}\n`);
}
