const VERBS = `accept add allow ask call change check choose close complete contact continue copy correct create delete enable enter finish
  invite issue keep leave log lower mention open put quote raise register remove reopen replay resolve retry revoke roll rotate send set
  shorten sign simplify split start stop try unpublish update upload use verify void wait write`.split(/\s+/);

// Verbs that are also nouns count only with a capital.
const AMBIGUOUS = /(?:^|[.?] )(?:Name|Request) /;
const INSTRUCTION = new RegExp(`(?:^|[.;:!?] |, |\\b(?:or|then|and) )(?:${VERBS.join('|')})\\b`, 'i');
const RULE = /\bexpected\b|\bmust\b|\bOnly\b[^.]* can \b|\bnot allowed\b|\blists\b|\bmay use\b/;

/** Says what to do: an instruction or a rule. */
export const saysWhatToDo = (text: string): boolean => INSTRUCTION.test(text) || AMBIGUOUS.test(text) || RULE.test(text);

/** Splits a message into what is wrong and what to do. */
export const partsOf = (message: string): { cause: string; remedy: string } => {
  const sentences = message.split(/(?<=[.?}]) (?=[A-Z])/);
  const first = sentences.findIndex((sentence, i) => i > 0 && saysWhatToDo(sentence));
  if (first > 0) return { cause: sentences.slice(0, first).join(' '), remedy: sentences.slice(first).join(' ') };
  const [, cause, remedy] = /^(Invalid value for '[^']+'): (expected .*)$/.exec(message) ?? [];
  if (cause && remedy) return { cause: `${cause}.`, remedy: remedy.replace('e', 'E') };
  return saysWhatToDo(message) ? { cause: 'The request breaks this rule.', remedy: message } : { cause: message, remedy: '' };
};

/** A message without what is known only when it is thrown. */
export const shapeOf = (message: string): string => message.replaceAll(/\{[\w-]+\}/g, '{}').replaceAll("''", "'{}'");
