import * as z from 'zod';
import { rankTooHigh } from './adapter-config.ts';
import { AdapterRefused } from './refused.ts';

/** The file begins with the size of its header. */
export const LENGTH_BYTES = 8;
// An adapter of a model with a hundred layers has about 200 KB.
const MAX_HEADER_BYTES = 2 ** 21;

// Their sizes in bytes.
const DTYPES: Readonly<Record<string, number>> = { F64: 8, F32: 4, F16: 2, BF16: 2, F8_E4M3: 1, F8_E5M2: 1 };
const Size = z.int().min(0);
const Tensor = z.object({ dtype: z.string(), shape: z.array(Size).min(1).max(4), data_offsets: z.tuple([Size, Size]) });
const Header = z.record(z.string(), z.unknown());
const METADATA = '__metadata__';

// A low-rank matrix, and which of its dimensions is the rank. Names of embeddings have the matrices transposed.
const MATRIX = /\.lora_(embedding_)?([AB])(?:\.|$)/;

const invalid = (detail: string): AdapterRefused =>
  new AdapterRefused('adapter_invalid', `adapter_model.safetensors can't be used: ${detail}.`);

/** The size of a file's header, from its first eight bytes. @throws AdapterRefused */
export const headerBytes = (start: Uint8Array, fileBytes: number): number => {
  if (start.length < LENGTH_BYTES) throw invalid('the file is too short');
  const bytes = Buffer.from(start).readBigUInt64LE(0);
  if (bytes > BigInt(Math.min(MAX_HEADER_BYTES, fileBytes - LENGTH_BYTES)))
    throw invalid('its header is larger than 2 MB, or than the file');
  return Number(bytes);
};

const parsed = (text: string): Record<string, unknown> => {
  try {
    return Header.parse(JSON.parse(text));
  } catch {
    throw invalid('its header is not a JSON object');
  }
};

const MAX_NAME_CHARACTERS = 80;
const shown = (name: string): string => JSON.stringify(name.slice(0, MAX_NAME_CHARACTERS));

const rankOf = (name: string, shape: readonly number[]): number => {
  const [, embedding, matrix] = MATRIX.exec(name) ?? [];
  if (matrix === undefined || shape.length !== 2) throw invalid(`${shown(name)} is not a matrix of a LoRA adapter`);
  const isFirst = (matrix === 'A') === (embedding === undefined);
  return (isFirst ? shape[0] : shape[1]) as number;
};

/**
 * Checks the header of a file with the weights of an adapter (https://huggingface.co/docs/safetensors): it has nothing
 * but low-rank matrices, whose data fill the file without gaps, and none has a higher rank than allowed.
 * @param dataBytes the size of the file without its header
 * @throws AdapterRefused
 */
export const checkHeader = (text: string, dataBytes: number, maxRank: number): void => {
  const parts: [from: number, to: number][] = [];
  for (const [name, value] of Object.entries(parsed(text))) {
    if (name === METADATA) continue;
    const { data: tensor } = Tensor.safeParse(value);
    if (!tensor) throw invalid(`the entry of ${shown(name)} has not the form of a tensor`);
    const { dtype, shape, data_offsets } = tensor;
    const rank = rankOf(name, shape);
    if (rank > maxRank) throw rankTooHigh(rank, maxRank);
    const size = shape.reduce((product, dimension) => product * dimension, DTYPES[dtype] ?? Number.NaN);
    if (data_offsets[1] - data_offsets[0] !== size) throw invalid(`${shown(name)} has not the size of its shape and type`);
    parts.push(data_offsets);
  }
  if (parts.length === 0) throw invalid('it has no tensors');
  let end = 0;
  for (const [from, to] of parts.sort(([one], [other]) => one - other)) {
    if (from !== end) throw invalid('its tensors overlap, or have gaps between them');
    end = to;
  }
  if (end !== dataBytes) throw invalid('the file is not complete, or longer than its tensors');
};
