import { describe, expect, test } from '@jest/globals';
import { differencesOf, mergeDrafts } from '../../../console/client/three-way.ts';

const opened = { name: 'production', month: '100', day: '', noContent: false };
const stored = { name: 'theirs', month: '250', day: '', noContent: false };
const typed = { name: 'mine', month: '100', day: '5', noContent: true };

describe('a form whose thing somebody else has changed', () => {
  test('shows the fields that were stored with another value, and in which of them the user must choose', () => {
    expect(differencesOf(opened, stored, typed)).toEqual([
      { name: 'name', opened: 'production', stored: 'theirs', typed: 'mine', isConflict: true },
      { name: 'month', opened: '100', stored: '250', typed: '100', isConflict: false },
    ]);
  });

  test('asks for no choice if both typed the same', () => {
    expect(differencesOf(opened, { ...opened, name: 'mine' }, typed)).toEqual([
      { name: 'name', opened: 'production', stored: 'mine', typed: 'mine', isConflict: false },
    ]);
  });

  test('keeps what was typed, and takes all else from what is stored', () => {
    expect(mergeDrafts(opened, stored, typed, new Set())).toEqual({ name: 'mine', month: '250', day: '5', noContent: true });
  });

  test('gives up what was typed where the user chose the stored value', () => {
    expect(mergeDrafts(opened, stored, typed, new Set(['name']))).toEqual({ name: 'theirs', month: '250', day: '5', noContent: true });
  });
});
