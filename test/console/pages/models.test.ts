import { describe, expect, test } from '@jest/globals';
import { modelNameOf, modelPath } from '../../../console/pages/models/model-path.ts';

describe('modelPath', () => {
  test.each([
    ['qwen3-8b', null, '/models/qwen3-8b'],
    ['meta/llama:3.1@v2+x', null, '/models/meta/llama%3A3.1%40v2%2Bx'],
    ['a%2Fb', 'org_1', '/models/a%252Fb?organization=org_1'],
  ])('leads to %s of %s, and back', (name, organization, path) => {
    expect(modelPath(name, organization)).toBe(path);
    expect(modelNameOf(path.slice('/models/'.length).split('?')[0] ?? '')).toBe(name);
  });
});

test('an address that was cut off is taken as it is, so that the API says that no model has this name', () => {
  expect(modelNameOf('meta/%E0%A4%A')).toBe('meta/%E0%A4%A');
});
