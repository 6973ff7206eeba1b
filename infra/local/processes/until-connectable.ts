import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_INTERVAL_MS = 10;

/**
 * Waits until a process listens on a port of this machine.
 * @throws Error if it exits before
 */
export const untilConnectable = async (name: string, child: ChildProcess, port: number): Promise<void> => {
  while (child.exitCode === null && child.signalCode === null) {
    if (await isConnectable(port)) return;
    await delay(POLL_INTERVAL_MS);
  }
  throw new Error(`${name} did not listen on port ${port}`);
};

const isConnectable = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
