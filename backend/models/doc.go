// Package models knows the providers: their keys and addresses, their models
// with limits and prices, and the client that reaches them.
//
// A key belongs to the origin it was entered for and is stored under that name (keys.go), so a
// changed address cannot send a key elsewhere. Each provider's list of models is fetched once a day
// and kept below the home folder (listings.go); the catalogue's rows take precedence. Local servers
// are looked for only when somebody opens the list of models or runs atelier doctor: on loopback,
// for 0.4 s, without a key.
package models
