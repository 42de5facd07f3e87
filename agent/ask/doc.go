// Package ask has the tool with which a model asks its user (OAS-307).
//
// A question takes the way of an approval: a row that outlives the process, the panel Waiting, the
// notice. No rule, mode, hook or program answers it. Where nobody can be asked, the tool says what
// to do instead.
package ask
