/** How a state is meant: well, soon to be looked at, wrong, or under way. */
export type Tone = 'good' | 'warn' | 'bad' | 'accent';
