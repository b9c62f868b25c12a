// A lease in memory: one holder a key, until an instant. It knows nothing of models, nor of who drives it.

export class LeaseHost {
  constructor(clock) {
    this.clock = clock;
    this.leases = new Map(); // key -> { holder, expiresAt }
  }

  // A take, in steps: asked once, then looked again until the deadline that was found at the asking.
  ask(key, holder, duration) {
    const entered = this.enter(key, holder, duration);
    return entered ?? { answer: "WAITING", deadline: this.leases.get(key).expiresAt };
  }

  poll(key, holder, duration, deadline) {
    const entered = this.enter(key, holder, duration);
    if (entered) return entered;
    return { answer: this.clock.now() >= deadline ? "UNAVAILABLE" : "WAITING", deadline };
  }

  tryTake(key, holder, duration) {
    return this.enter(key, holder, duration) ?? { answer: "UNAVAILABLE" };
  }

  remaining(key, holder) {
    const lease = this.standing(key, holder);
    return lease ? lease.expiresAt - this.clock.now() : null;
  }

  mint(key, holder, allowance) {
    const lease = this.standing(key, holder);
    return lease ? lease.expiresAt - allowance : null;
  }

  release(key, holder) {
    if (!this.standing(key, holder)) return "NOT_HELD";
    this.leases.delete(key);
    return "RELEASED";
  }

  enter(key, holder, duration) {
    const lease = this.leases.get(key);
    if (!lease || this.ended(lease)) {
      const granted = { holder, expiresAt: this.clock.now() + duration };
      this.leases.set(key, granted);
      return { answer: "GRANTED", expiresAt: granted.expiresAt };
    }
    return lease.holder === holder ? { answer: "REENTERED", expiresAt: lease.expiresAt } : null;
  }

  standing(key, holder) {
    const lease = this.leases.get(key);
    return lease && lease.holder === holder && !this.ended(lease) ? lease : null;
  }

  ended(lease) {
    return this.clock.now() >= lease.expiresAt;
  }
}

export class Judge {
  constructor(clock) {
    this.clock = clock;
  }

  admit(instant) {
    return this.clock.now() < instant ? "ADMITTED" : "LATE";
  }
}
