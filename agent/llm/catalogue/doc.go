// Package catalogue holds what is known about models in advance: names, limits,
// prices, abilities. It is dated, advisory data. A model that it does not list
// can still be used (LLM-15); only its cost is then unknown.
//
// The rows are in models.json. A model that the table does not list takes its price from its
// provider's list, and its window from the newest model of its family, marked as assumed.
package catalogue
