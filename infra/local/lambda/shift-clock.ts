/**
 * Makes `Date` follow a clock that can be set. It must be called before code that keeps `Date.now` is loaded.
 * @returns sets the distance to the machine's clock
 */
export const installClock = (): ((offsetMs: number) => void) => {
  const MachineDate = Date;
  let offset = 0;

  const now = (): number => MachineDate.now() + offset;

  class ShiftedDate extends MachineDate {
    constructor(...parts: unknown[]) {
      super(...((parts.length === 0 ? [now()] : parts) as [number]));
    }

    static override now(): number {
      return now();
    }
  }
  globalThis.Date = ShiftedDate as DateConstructor;
  return (offsetMs) => {
    offset = offsetMs;
  };
};
