import { describe, expect, test } from '@jest/globals';
import { CORPUS_FOLDER, readCorpus } from '../../../../../infra/local/model-server/model/corpus.ts';
import { VECTOR_DIMENSIONS } from '../../../../../infra/local/model-server/vectors/vectors.ts';
import { vectors } from '../fixtures.ts';

const paragraphs = readCorpus(CORPUS_FOLDER);

const similarity = (a: Float32Array, b: Float32Array): number => a.reduce((sum, number, at) => sum + number * (b[at] ?? 0), 0);
const lengthOf = (vector: Float32Array): number => Math.sqrt(similarity(vector, vector));

const SEARCHES: [string, RegExp][] = [
  ['What is a weir?', /weir/],
  ['how to boil an egg', /boil an egg/],
  ['opening the gates of a lock', /lock/i],
  ['Why is the tide later every day?', /tide/],
  ['a new bell for the tower', /bell/],
  ['cooking rice in a pot', /rice/],
];

const nearest = (score: (paragraph: string) => number): string =>
  paragraphs.map((paragraph) => ({ paragraph, score: score(paragraph) })).reduce((best, one) => (one.score > best.score ? one : best))
    .paragraph;

describe('a vector', () => {
  test.each(SEARCHES)('finds the paragraph of the corpus for: %s', (query, expected) => {
    const searched = vectors.embed(query);
    expect(nearest((paragraph) => similarity(searched, vectors.embed(paragraph)))).toMatch(expected);
  });

  test('is close for texts that share words, and for other forms of a word, whatever the case and accents', () => {
    const to = (text: string): number => similarity(vectors.embed('The locks of the river'), vectors.embed(text));
    expect(to('THE LOCKS OF THE RÍVER')).toBeCloseTo(1, 6);
    expect(to('a lock in a river')).toBeGreaterThan(to('an onion in a soup'));
  });

  test.each(['', ' ', '!!!', '🙂', '水', 'a', '\ud800'])('has length 1 and only finite numbers for the text %j', (text) => {
    const vector = vectors.embed(text);
    expect(vector).toHaveLength(VECTOR_DIMENSIONS);
    expect(lengthOf(vector)).toBeCloseTo(1, 6);
  });

  test.each([1, 2, 64, 255])('shortened to %i numbers is the beginning of the whole one, scaled to length 1', (dimensions) => {
    const whole = vectors.embed('What is a sluice?').subarray(0, dimensions);
    const short = vectors.embed('What is a sluice?', dimensions);
    expect(short).toHaveLength(dimensions);
    expect(lengthOf(short)).toBeCloseTo(1, 6);
    expect(similarity(short, whole)).toBeCloseTo(lengthOf(whole), 6);
  });
});

describe('the relevance of a document', () => {
  test.each(SEARCHES)('is highest for the paragraph of the corpus for: %s', (query, expected) => {
    const relevance = vectors.relevance(query);
    expect(nearest(relevance)).toMatch(expected);
  });

  test('is the same for a long document with the words as for a short one', () => {
    const relevance = vectors.relevance('a bell in the tower');
    expect(relevance(`A bell in the tower. ${paragraphs.slice(0, 20).join(' ')}`)).toBeCloseTo(relevance('a bell in the tower'), 9);
  });
});
