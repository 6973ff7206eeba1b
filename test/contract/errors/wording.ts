const VERBS = `accept add allow ask call change check choose close complete contact continue copy correct create delete enable enter finish
  invite issue keep leave log lower mention open put quote raise register remove reopen replay resolve retry revoke roll rotate send set
  shorten sign simplify split start stop try unpublish update upload use verify void wait write`.split(/\s+/);

// Verbs that are also nouns count only with a capital.
const AMBIGUOUS = /(?:^|[.?] )(?:Name|Request) /;
const INSTRUCTION = new RegExp(`(?:^|[.;:!?] |, |\\b(?:or|then|and) )(?:${VERBS.join('|')})\\b`, 'i');
const RULE = /\bexpected\b|\bmust\b|\bOnly\b[^.]* can \b|\bnot allowed\b|\blists\b|\bmay use\b/;

/** Says what to do: an instruction or a rule. */
export const saysWhatToDo = (text: string): boolean => INSTRUCTION.test(text) || AMBIGUOUS.test(text) || RULE.test(text);

// The causes of the messages that only state the rule.
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/^The header '([^']+)' must be /, "The header '$1' has an invalid value."],
  [/^Only pages of this host can send /, 'A page of another site could have caused this request.'],
  [/^Send 'Content-Type: application\/x-www-form-urlencoded' or /, 'The content type of the request is missing or is not supported.'],
  [/^A rule for \S+ must have /, 'The rule would also accept tokens of other customers of this issuer.'],
  [/^Only a failed deployment can be retried; /, 'The deployment has not failed.'],
  [/^Only users of an organization can open tickets\. /, "You don't belong to an organization."],
];

const causeOf = (rule: string): string => {
  const [pattern, cause] = CAUSES.find(([begin]) => begin.test(rule)) ?? [];
  if (!pattern || !cause) throw new Error(`Add to CAUSES in wording.ts what is wrong if a caller gets this message: ${rule}`);
  return cause.replace('$1', pattern.exec(rule)?.[1] ?? '');
};

/** Splits a message into what is wrong and what to do. @throws if it only states a rule that CAUSES lacks */
export const partsOf = (message: string): { cause: string; remedy: string } => {
  const sentences = message.split(/(?<=[.?}]) (?=[A-Z])/);
  const first = sentences.findIndex((sentence, i) => i > 0 && saysWhatToDo(sentence));
  if (first > 0) return { cause: sentences.slice(0, first).join(' '), remedy: sentences.slice(first).join(' ') };
  const [, cause, remedy] = /^(Invalid value for '[^']+'): (expected .*)$/.exec(message) ?? [];
  if (cause && remedy) return { cause: `${cause}.`, remedy: remedy.replace('e', 'E') };
  return saysWhatToDo(message) ? { cause: causeOf(message), remedy: message } : { cause: message, remedy: '' };
};

/** A message without what is known only when it is thrown. */
export const shapeOf = (message: string): string => message.replaceAll(/\{[\w-]+\}/g, '{}').replaceAll("''", "'{}'");
