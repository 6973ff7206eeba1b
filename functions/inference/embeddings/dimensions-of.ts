import type { Model } from '../../../shared/models/model.ts';
import type { EmbeddingsRequest } from './request.ts';

/** The dimensions of a request's vectors: its own, or those of its model. */
export const dimensionsOf = ({ dimensions }: EmbeddingsRequest, { embedding }: Model): number => {
  const length = dimensions ?? embedding?.dimensions;
  if (length === undefined) throw new Error('A model for embeddings has no dimensions.');
  return length;
};
