// Package repetition recognises that a model makes the same calls again and again, with the
// same results (LOOP-20).
package repetition
