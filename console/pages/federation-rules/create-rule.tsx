import { useState } from 'react';
import { useLocation } from 'wouter';
import { controlUrl } from '../../client/address.ts';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Segments, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Disclosure, Stack } from '../../design/layout/layout.tsx';
import { claimsOfJob, emptyRule, faultsOfRule, GITHUB_ISSUER, type GitHubJob, newRuleOf } from './rule-draft.ts';
import { ConditionFields, FurtherFields, KeySettingFields } from './rule-fields.tsx';

const JOB: GitHubJob = { repositoryId: '', ref: 'refs/heads/main', environment: '' };

const JobFields = ({ job, onChange }: { job: GitHubJob; onChange: (changes: Partial<GitHubJob>) => void }) => (
  <>
    <TextField
      label="Repository id"
      value={job.repositoryId}
      onChange={(repositoryId) => onChange({ repositoryId: repositoryId.trim() })}
      hint={
        <>
          Unlike its name, nobody else can take it over. To find it: <code>gh api repos/OWNER/REPOSITORY --jq .id</code>
        </>
      }
      fault={/^\d*$/.test(job.repositoryId) ? undefined : 'Enter the number that the command prints.'}
      inputMode="numeric"
      isCode
      autoFocus
    />
    <TextField
      label="Ref"
      value={job.ref}
      onChange={(ref) => onChange({ ref: ref.trim() })}
      hint="The branch or tag that the job runs for. Leave empty for any, including pull requests."
      isCode
    />
    <TextField
      label="Environment"
      value={job.environment}
      onChange={(environment) => onChange({ environment: environment.trim() })}
      hint="The environment of the job. Leave empty for any."
      isCode
    />
  </>
);

/** Creates a rule for jobs of GitHub Actions, or of another issuer, then opens its page with the workflow. */
export const CreateRule = ({ account, onClose }: { account: string; onClose: () => void }) => {
  const me = useSignedIn();
  const [, navigate] = useLocation();
  const [preset, setPreset] = useState<'github' | 'other'>('github');
  const [issuer, setIssuer] = useState('https://');
  const [job, setJob] = useState(JOB);
  const [typed, setTyped] = useState(() => emptyRule(controlUrl));
  const isGitHub = preset === 'github';
  const draft = isGitHub ? { ...typed, subject: '', claims: claimsOfJob(job) } : typed;
  const change = (changes: Partial<typeof typed>) => setTyped((was) => ({ ...was, ...changes }));
  const isComplete = isGitHub ? /^\d+$/.test(job.repositoryId) : issuer.length > 'https://'.length;
  return (
    <Dialog title="Create federation rule" onClose={onClose}>
      <Form
        submitLabel="Create federation rule"
        canSubmit={isComplete && Object.keys(faultsOfRule(draft)).length === 0}
        onCancel={onClose}
        onSubmit={async () => {
          const body = newRuleOf(draft, isGitHub ? GITHUB_ISSUER : issuer);
          const { id } = await request('POST /v1/service-accounts/{id}/federation-rules', { parameters: { id: account }, body });
          void readAgain('/v1/service-accounts');
          navigate(`/federation-rules/${id}?service_account=${account}`);
        }}
      >
        <Segments
          label="Jobs from"
          value={preset}
          onChange={setPreset}
          choices={[
            ['github', 'GitHub Actions'],
            ['other', 'Another issuer'],
          ]}
        />
        {isGitHub ? (
          <JobFields job={job} onChange={(changes) => setJob((was) => ({ ...was, ...changes }))} />
        ) : (
          <>
            <TextField
              label="Issuer"
              value={issuer}
              onChange={setIssuer}
              hint="The iss claim of the tokens: an https address that publishes an OpenID configuration. It can't be changed later."
              isCode
              autoFocus
            />
            <ConditionFields draft={typed} onChange={change} />
          </>
        )}
        {can(me, 'keys:limit') && <KeySettingFields draft={typed} onChange={change} />}
        <Disclosure title="Audience and description" isOpen={!isGitHub}>
          <Stack>
            <FurtherFields draft={typed} onChange={change} />
          </Stack>
        </Disclosure>
      </Form>
    </Dialog>
  );
};
