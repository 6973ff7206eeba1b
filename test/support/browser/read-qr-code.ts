import type { Locator } from 'playwright-core';
import decodeQR from 'qr/decode.js';

const PIXELS = 4;
const CHANNELS = 4;

/** Reads the text of a QR code that is a picture of squares, as a phone would. @throws Error if it is none */
export const readQrCode = async (code: Locator): Promise<string> => {
  const [viewBox, path] = await Promise.all([code.getAttribute('viewBox'), code.locator('path').getAttribute('d')]);
  const side = Number(viewBox?.split(' ')[3]) * PIXELS;
  const data = new Uint8Array(side * side * CHANNELS).fill(255);
  for (const [, column, row] of path?.matchAll(/M(\d+) (\d+)h1v1h-1z/g) ?? [])
    for (let y = Number(row) * PIXELS; y < (Number(row) + 1) * PIXELS; y++) {
      const start = (y * side + Number(column) * PIXELS) * CHANNELS;
      for (let pixel = 0; pixel < PIXELS; pixel++) data.fill(0, start + pixel * CHANNELS, start + pixel * CHANNELS + CHANNELS - 1);
    }
  return decodeQR({ width: side, height: side, data });
};
