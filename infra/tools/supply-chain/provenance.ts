/** Files of a release by their names, as SHA-256 in hexadecimal digits. */
export type Hashes = Readonly<Record<string, string>>;

/** The source, files and tools of a release. */
export interface Release {
  version: string;
  /** Where the source is, such as `https://github.com/example/sluice`. */
  repository: string;
  /** Ids of git. */
  commit: string;
  tree: string;
  /** The hashes of the files that a release has besides its source. */
  files: Hashes;
  lockFile: string;
  /** The URI of its builder, such as of a workflow. */
  builder: string;
  tools: Readonly<Record<string, string>>;
  startedAt: string;
}

/**
 * Returns an in-toto statement (https://in-toto.io/Statement/v1) of a release's origin, with the predicate of SLSA
 * (https://slsa.dev/provenance/v1). Its subjects are the source and the files.
 */
export const provenanceOf = ({ version, repository, commit, tree, files, lockFile, builder, tools, startedAt }: Release) => {
  const tag = `v${version}`;
  const source = { uri: `git+${repository}@refs/tags/${tag}`, digest: { gitCommit: commit, gitTree: tree } };
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: `sluice-${version}`, digest: source.digest },
      ...Object.entries(files).map(([name, sha256]) => ({ name, digest: { sha256 } })),
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/blob/${tag}/SECURITY.md#verify-a-release`,
        externalParameters: { version, tag },
        resolvedDependencies: [source, { uri: `${repository}/blob/${tag}/package-lock.json`, digest: { sha256: lockFile } }],
      },
      runDetails: { builder: { id: builder, version: tools }, metadata: { startedOn: startedAt } },
    },
  };
};
