import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorFrame, exceptionFrame, payloadPart } from './frames.ts';
import type { Fault, StreamFaultKind } from './invocation-settings.ts';

const STREAM_TIMEOUT_MS = 480_000;

interface StreamFault {
  kind: StreamFaultKind;
  fault: Fault;
}

const brokenStream = (): Buffer =>
  exceptionFrame('ModelStreamError', { ErrorCode: 'StreamBroken', Message: 'The connection to the model container was broken.' });

const timeExceeded = (): Buffer =>
  exceptionFrame('ModelStreamError', {
    ErrorCode: 'ModelInvocationTimeExceeded',
    Message: 'The model took longer than the 8 minutes of a streaming response.',
  });

/**
 * Sends a container's response as payload parts, each as it arrives, no faster than the caller reads. If the
 * container's stream breaks, the caller receives the ModelStreamError StreamBroken. If the caller disconnects, the
 * request to the container is closed.
 * @param fault produced after its number of parts, or at the end of a shorter stream
 */
export const streamParts = (
  source: IncomingMessage,
  response: ServerResponse,
  cut: (chunk: Buffer) => Buffer[],
  fault: StreamFault | undefined,
): void => {
  let parts = 0;
  let over = false;
  const timer = setTimeout(() => finish(timeExceeded()), STREAM_TIMEOUT_MS);
  const stop = (): void => {
    over = true;
    clearTimeout(timer);
    source.destroy();
  };
  const finish = (last?: Buffer): void => {
    if (over) return;
    stop();
    response.end(last);
  };
  const isFaultDue = (): boolean => !over && fault !== undefined && parts >= fault.fault.after_parts;
  const failWith = (due: StreamFault): void => {
    stop();
    sendFault(due, response);
  };

  response.once('close', stop);
  response.on('drain', () => source.resume());
  source.on('data', (chunk: Buffer) => {
    for (const part of cut(chunk)) {
      if (fault && isFaultDue()) failWith(fault);
      if (over) return;
      parts += 1;
      if (!response.write(payloadPart(part))) source.pause();
    }
    if (fault && isFaultDue()) failWith(fault);
  });
  source.once('end', () => {
    if (fault && !over) failWith(fault);
    else finish();
  });
  source.once('error', () => finish(brokenStream()));
  if (fault && isFaultDue()) failWith(fault);
};

const sendFault = ({ kind, fault }: StreamFault, response: ServerResponse): void => {
  switch (kind) {
    case 'model_stream_error':
      response.end(
        exceptionFrame('ModelStreamError', {
          ErrorCode: fault.error_code,
          Message: 'An error occurred while streaming the response body.',
        }),
      );
      return;
    case 'internal_stream_failure':
      response.end(
        exceptionFrame('InternalStreamFailure', {
          Message: 'The stream processing failed because of an unknown error, exception or failure.',
        }),
      );
      return;
    case 'error_frame':
      response.end(errorFrame('InternalFailure', 'An internal failure occurred.'));
      return;
    case 'truncated_frame': {
      const frame = payloadPart(Buffer.from('data: cut'));
      response.end(frame.subarray(0, frame.length - 6));
      return;
    }
    case 'bad_checksum': {
      const frame = payloadPart(Buffer.from('data: damaged'));
      frame.writeUInt8(frame.readUInt8(frame.length - 1) ^ 0xff, frame.length - 1);
      response.end(frame);
      return;
    }
    case 'end_without_done':
      response.end();
      return;
    case 'socket_destroyed':
      // Earlier parts must arrive first; the callback of an empty write runs after them.
      response.write('', () => response.destroy());
      return;
    case 'silence':
      return;
  }
};
