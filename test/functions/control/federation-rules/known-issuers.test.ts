import { describe, expect, test } from '@jest/globals';
import { tooWide } from '../../../../functions/control/federation-rules/known-issuers.ts';

const GITHUB = 'https://token.actions.githubusercontent.com';
const ENTRA = 'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0';
const AWS = 'https://0a1b.tokens.sts.global.api.aws';
const ROLE = 'arn:aws:iam::123456789012:role/deploy';
type Case = [issuer: string, subject: string | null, claims: Record<string, string>];

describe('tooWide', () => {
  test.each<Case>([
    [GITHUB, null, { repository_id: '1' }],
    [`${GITHUB}/acme`, null, { repository_id: '1', ref: 'refs/heads/main' }],
    [GITHUB, 'repo:acme@12/web@34:*', {}],
    [GITHUB, 'repo:acme@12/web@34:environment:production', {}],
    ['https://token.actions.acme.ghe.com', null, { repository_id: '1' }],
    ['https://github.acme.example/_services/token', null, { repository_id: '1' }],
    ['https://gitlab.com', null, { project_id: '1' }],
    ['https://accounts.google.com', '112233445566', {}],
    [ENTRA, null, { tid: 't', oid: 'o' }],
    ['https://sts.windows.net/t/', null, { tid: 't', oid: 'o' }],
    ['https://login.microsoftonline.us/t/v2.0', null, { tid: 't', oid: 'o' }],
    [AWS, ROLE, {}],
    [AWS, 'arn:aws-us-gov:iam::123456789012:role/path/deploy', {}],
    ['https://issuer.example', 'system:serviceaccount:default:deploy', {}],
    ['https://issuer.example', 'team-*', {}],
    ['https://issuer.example', null, { project: 'web' }],
  ])('accepts a rule of %s for the subject %s with %j', (issuer, subject, claims) => {
    expect(tooWide({ issuer, subject, claims })).toBeUndefined();
  });

  test.each<[...Case, string]>([
    [GITHUB, 'repo:acme/web:ref:refs/heads/main', {}, "the claim 'repository_id'"],
    [GITHUB, 'repo:acme/web:*', { repository: 'acme/web' }, "the claim 'repository_id'"],
    [GITHUB, null, { repository_owner_id: '12', ref: 'refs/heads/main' }, "the claim 'repository_id'"],
    [GITHUB, 'repo:acme@12/*', {}, "the claim 'repository_id'"],
    [GITHUB, 'repo:acme@12/web@34*', {}, "the claim 'repository_id'"],
    [`${GITHUB}/acme`, '*', {}, 'GitHub Actions'],
    ['https://token.actions.acme.ghe.com', 'repo:a/b:*', {}, 'GitHub Actions'],
    ['https://github.acme.example/_services/token', 'repo:a/b:*', {}, 'GitHub Actions'],
    ['https://github.acme.example/_services/token/', 'repo:a/b:*', {}, 'GitHub Actions'],
    ['https://gitlab.com', 'project_path:acme/web:*', { namespace_id: '1' }, "'project_id'"],
    ['https://accounts.google.com', '1122*', {}, 'numeric id'],
    ['https://accounts.google.com', null, { email: 'a@example.com' }, 'numeric id'],
    [ENTRA, null, { tid: 't' }, "'tid' and 'oid'"],
    [ENTRA, 's', { oid: 'o' }, "'tid' and 'oid'"],
    ['https://login.microsoftonline.us/t/v2.0', null, { tid: 't' }, "'tid' and 'oid'"],
    ['https://login.partner.microsoftonline.cn/t/v2.0', 's', {}, "'tid' and 'oid'"],
    [AWS, 'arn:aws:iam::123456789012:role/*', {}, 'ARN'],
    [AWS, 'arn:aws:iam::123456789012:root', {}, 'ARN'],
    [AWS, null, { org_id: 'o-1' }, 'ARN'],
    ['https://issuer.example', '*', {}, "'subject' or 'claims'"],
    ['https://issuer.example', null, {}, "'subject' or 'claims'"],
  ])('refuses a rule of %s for the subject %s with %j', (issuer, subject, claims, fault) => {
    expect(tooWide({ issuer, subject, claims })).toContain(fault);
  });
});
