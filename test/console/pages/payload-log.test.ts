import { describe, expect, test } from '@jest/globals';
import { bodyOf, draftOf, PATTERN_NAMES, type Settings } from '../../../console/pages/payload-log/settings-draft.ts';
import { PATTERNS } from '../../../shared/payload-log/settings.ts';

const settings: Settings = {
  object: 'payload_log',
  organization: 'org_1',
  api_key: null,
  source: 'organization',
  enabled: true,
  retention_days: 7,
  patterns: ['email', 'iban'],
  paths: ['$.metadata', '$.user'],
  tool_arguments: 'keep',
  pending: false,
  updated_at: 1,
  updated_by: 'user_1',
  version: 3,
};

describe('bodyOf', () => {
  test('sends back all settings that a form was opened with', () => {
    const { enabled, retention_days, patterns, paths, tool_arguments } = settings;
    expect(bodyOf(draftOf(settings))).toEqual({ enabled, retention_days, patterns, paths, tool_arguments });
  });

  test('sends a path for each line that is not empty', () => {
    expect(bodyOf({ ...draftOf(settings), paths: ' $.a \n\n$.b\n' }).paths).toEqual(['$.a', '$.b']);
  });
});

describe('PATTERN_NAMES', () => {
  test('has all patterns of the API', () => {
    expect(PATTERN_NAMES).toEqual([...PATTERNS]);
  });
});
