import type { Judged } from './compare.ts';

/** The differences of one request. */
export interface Finding {
  /** The case, and how it was sent. */
  label: string;
  differences: Judged[];
}

const MAX_CHARACTERS = 160;

const short = (value: unknown): string => {
  const json = JSON.stringify(value) ?? 'nothing';
  return json.length > MAX_CHARACTERS ? `${json.slice(0, MAX_CHARACTERS)}…` : json;
};

const lineOf = ({ part, vllm, sluice, reason }: Judged): string[] => [
  `  ${reason === undefined ? 'UNEXPLAINED' : 'explained'}: ${part}${reason === undefined ? '' : `: ${reason}`}`,
  `    vLLM   ${short(vllm)}`,
  `    Sluice ${short(sluice)}`,
];

/** The differences of all requests, and a last line with their numbers. */
export const toText = (findings: readonly Finding[]): string => {
  const differing = findings.filter(({ differences }) => differences.length > 0);
  const all = differing.flatMap(({ differences }) => differences);
  const unexplained = all.filter(({ reason }) => reason === undefined).length;
  return [
    ...differing.flatMap(({ label, differences }) => [label, ...differences.flatMap(lineOf)]),
    `${findings.length} requests: ${findings.length - differing.length} equal, ${all.length - unexplained} differences explained, ${unexplained} unexplained`,
  ].join('\n');
};

/** True if a difference has no reason. */
export const hasUnexplained = (findings: readonly Finding[]): boolean =>
  findings.some(({ differences }) => differences.some(({ reason }) => reason === undefined));
