import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { timelinePicture } from '../../../../infra/tools/pictures/timeline/timeline-picture.ts';

test('docs/images has the timeline as the API draws it now; if not, run npm run synth && npm run pictures', () => {
  expect(readFileSync(path.join(import.meta.dirname, '../../../../docs/images/timeline.svg'), 'utf8')).toBe(timelinePicture());
});
