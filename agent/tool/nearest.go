package tool

import (
	"math"
	"strings"
	"unicode"
)

// nearest finds the lines that differ least from old, within the limit.
func nearest(b *budget, content []byte, lines []span, old string) (found []span) {
	wanted := block(old)
	text := []rune(strings.Join(wanted, "\n"))
	if len(text) < minResembled {
		return nil
	}
	have, starts := runesOf(b, content, lines)
	r, counts := newEditDistance(b, text), newBagDistance(text)
	best := len(text) // see letterWeight
	for i := range lines {
		counts.add(have[starts[i]:starts[i+1]-1], 1)
		first := i - len(wanted) + 1
		if first < 0 {
			continue
		}
		if first > 0 {
			counts.add(have[starts[first-1]:starts[first]-1], -1)
		}
		if !b.spend(starts[i+1] - starts[i]) {
			return nil
		}
		if counts.lowerBound() > best {
			continue
		}
		d := r.to(have[starts[first]:starts[i+1]-1], best)
		if d > best {
			continue
		}
		if d < best {
			best, found = d, nil
		}
		if len(found) == 0 || found[len(found)-1].end <= lines[first].start {
			found = append(found, span{lines[first].start, lines[i].end})
		}
	}
	return found
}

// runesOf returns the runes of the lines, with a line feed after each line, and
// the start of each line among them and the end of the last.
func runesOf(b *budget, content []byte, lines []span) (runes []rune, starts []int) {
	for _, line := range lines {
		starts = append(starts, len(runes))
		if !b.spend(line.end - line.start) {
			break
		}
		runes = append(append(runes, []rune(string(content[line.start:line.end]))...), '\n')
	}
	return runes, append(starts, len(runes))
}

func weight(r rune) int {
	if unicode.IsSpace(r) {
		return spaceWeight
	}
	return letterWeight
}

// bagDistance compares how often each rune occurs in two texts, regardless of
// order.
type bagDistance struct {
	missing map[rune]int // per rune, how many the current text lacks; negative for a surplus
	less    int          // the weight of all missing runes
	more    int          // the weight of all surplus runes
}

func newBagDistance(wanted []rune) *bagDistance {
	t := &bagDistance{missing: map[rune]int{}}
	t.add(wanted, -1)
	t.add([]rune{'\n'}, strings.Count(string(wanted), "\n")) // every run of lines has the same number
	return t
}

// add adds runes of the current text to the count, or removes them.
func (t *bagDistance) add(runes []rune, times int) {
	for _, r := range runes {
		before := t.missing[r]
		after := before - times
		t.missing[r] = after
		w := weight(r)
		t.less += w * (max(after, 0) - max(before, 0))
		t.more += w * (max(-after, 0) - max(-before, 0))
	}
}

// lowerBound returns a lower bound of the edit distance: one edit supplies at
// most one missing rune and removes at most one surplus rune.
func (t *bagDistance) lowerBound() int { return max(t.less, t.more) }

// editDistance computes weighted edit distances from one text.
type editDistance struct {
	budget      *budget
	text        []rune
	weights     []int // of each rune
	before      []int // the weight of all runes before each position, and of all runes
	row, former []int
}

func newEditDistance(b *budget, text []rune) *editDistance {
	r := &editDistance{
		budget: b, text: text, weights: make([]int, len(text)), before: make([]int, len(text)+1),
		row: make([]int, len(text)+1), former: make([]int, len(text)+1),
	}
	for i, c := range text {
		r.weights[i] = weight(c)
		r.before[i+1] = r.before[i] + r.weights[i]
	}
	return r
}

// far is more than any distance.
const far = math.MaxInt / 2

// to returns the distance of the text to another one if it is at most limit,
// else something larger. It computes only the cells in which the prefixes of
// both texts differ in weight by at most limit.
func (r *editDistance) to(other []rune, limit int) int {
	lo, hi, weighed := 0, -1, 0
	row, former := r.row, r.former
	widen := func(row []int) {
		for hi+1 < len(row) && r.before[hi+1] <= weighed+limit {
			hi++
			row[hi] = far
		}
	}
	widen(former)
	for j := range hi + 1 {
		former[j] = r.before[j]
	}
	for _, c := range other {
		w := weight(c)
		weighed += w
		widen(former)
		for lo <= hi && r.before[lo] < weighed-limit {
			lo++
		}
		if lo > 0 {
			row[lo-1] = far
		}
		least := far
		for j := lo; j <= hi; j++ {
			d := former[j] + w
			if j > 0 {
				change := former[j-1]
				if c != r.text[j-1] {
					change += max(w, r.weights[j-1])
				}
				d = min(d, change, row[j-1]+r.weights[j-1])
			}
			row[j] = d
			least = min(least, d)
		}
		if !r.budget.spend(hi-lo+1) || least > limit {
			return far
		}
		row, former = former, row
	}
	if hi < len(r.text) {
		return far
	}
	return former[len(r.text)]
}
