interface Currency {
  code: string;
  symbol: string;
  decimals: number;
}

let own: Currency = { code: 'USD', symbol: '$', decimals: 2 };

/** Sets the currency of all prices, budgets and costs. */
export const setCurrency = (currency: Currency): void => {
  own = currency;
};

/** The currency of all prices, budgets and costs. It can change when the user is read again. */
export const ownCurrency = (): Currency => own;
