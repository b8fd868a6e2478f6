package linear

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// segmentWork assigns segments to projects and deletes them, while default strategies and flags start and stop using them, and
// flags move. Each segment has its own environment, in which default strategies use this segment or none, and its own flag
// with one strategy in this environment. So each segment can be checked separately.
var segmentWork = &workload{
	prepare: (*world).createSegments,
	work: func(w *world, client int) {
		random := rand.New(rand.NewPCG(w.seed, uint64(client)+2))
		for range w.each {
			timeout := longTimeout
			if random.IntN(4) == 0 {
				timeout = shortTimeout
			}
			w.doSegment(client, segmentInputOf(random), timeout)
		}
	},
	finish: func(w *world) {
		for i := range allSegments {
			w.doSegment(clients, segmentInput{kind: readSegment, segment: i}, longTimeout)
			for _, project := range twoProjects {
				w.doSegment(clients, segmentInput{kind: readStrategy, segment: i, project: project}, longTimeout)
			}
		}
	},
	model: porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := make([][]porcupine.Operation, allSegments)
			for _, o := range history {
				i := o.Input.(segmentInput).segment
				parts[i] = append(parts[i], o)
			}
			return parts
		},
		Init: func() any { return segmentState{project: "default"} },
		Step: func(s, in, out any) (bool, any) {
			legal, after := s.(segmentState).step(in.(segmentInput), out.(segmentOutput))
			return legal, after
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v → %+v", in, out) },
		DescribeState:     func(s any) string { return fmt.Sprintf("%+v", s) },
	},
}

const allSegments = 3

var twoProjects = []string{"default", "shop"}

// A segmentInput has the parameters of an operation.
type segmentInput struct {
	kind    kind
	segment int
	project string // the new owner of the segment ("" for all projects), or the project of the default strategy or flag
	to      string // the project to which the flag moves
	uses    bool   // whether the strategy uses the segment, or none
}

const (
	assign       kind = "assign"
	destroy      kind = "delete"
	setDefault   kind = "default strategy"
	strategy     kind = "strategy"
	move         kind = "move"
	readSegment  kind = "read segment"
	readStrategy kind = "read strategy"
)

// A segmentOutput is the response to an operation.
type segmentOutput struct {
	status int    // 0 for an operation of unknown effect
	owner  string // from a read of the segment
	uses   bool   // from a read of the strategy
}

// A segmentState is a segment with the strategies that can use it.
type segmentState struct {
	deleted   bool
	owner     string // "" for all projects
	project   string // of the flag
	uses      bool   // whether the flag's strategy uses it
	inDefault bool   // whether the default strategy of the project default uses it
	inShop    bool   // whether the default strategy of the project shop uses it
}

// usable reports whether strategies of a project can use the segment.
func (s segmentState) usable(project string) bool {
	return !s.deleted && (s.owner == "" || s.owner == project)
}

// usedOutside reports whether a strategy of another project uses the segment; a strategy of any project for "".
func (s segmentState) usedOutside(project string) bool {
	return s.uses && s.project != project || s.inDefault && project != "default" || s.inShop && project != "shop"
}

// step reports whether the response is legal in a state, and returns the next state.
//
// Two refusals depend on a read of the flag and a later read of the segment. Only the second read is checked: the segment was
// not usable. The flag may have stopped using it in between.
func (s segmentState) step(in segmentInput, out segmentOutput) (bool, segmentState) {
	refused := in.kind == move && out.status == http.StatusConflict || in.kind == strategy && out.status == http.StatusBadRequest
	switch {
	case in.kind == move && refused:
		return s.owner != "" && s.owner != in.to, s
	case refused:
		return !s.usable(in.project), s
	case in.kind == readSegment:
		return out == segmentOutput{status: s.read(), owner: s.owner} || s.deleted && out.status == s.read(), s
	case in.kind == readStrategy && s.project != in.project:
		return out.status == http.StatusNotFound, s
	case in.kind == readStrategy:
		return out.status == http.StatusOK && out.uses == s.uses, s
	}
	after, status := s.apply(in)
	return out.status == 0 || out.status == status, after
}

func (s segmentState) read() int {
	if s.deleted {
		return http.StatusNotFound
	}
	return http.StatusOK
}

// apply returns the state after a change, and the status of the response.
func (s segmentState) apply(in segmentInput) (segmentState, int) {
	switch in.kind {
	case assign, destroy:
		return s.applyToSegment(in)
	case setDefault:
		if in.uses && !s.usable(in.project) {
			return s, http.StatusBadRequest
		}
		if in.project == "shop" {
			s.inShop = in.uses
		} else {
			s.inDefault = in.uses
		}
		return s, http.StatusOK
	}
	switch {
	case s.project != in.project:
		return s, http.StatusNotFound
	case in.kind == move && s.uses && in.to != s.project && !s.usable(in.to):
		return s, http.StatusConflict
	case in.kind == move:
		s.project = in.to
	case in.uses && !s.uses && !s.usable(in.project):
		return s, http.StatusBadRequest
	default:
		s.uses = in.uses
	}
	return s, http.StatusOK
}

func (s segmentState) applyToSegment(in segmentInput) (segmentState, int) {
	switch {
	case s.deleted:
		return s, http.StatusNotFound
	case in.kind == destroy && s.usedOutside(""), in.project != "" && s.usedOutside(in.project):
		return s, http.StatusConflict
	case in.kind == destroy:
		s.deleted = true
	default:
		s.owner = in.project
	}
	return s, http.StatusNoContent
}

// segmentInputOf returns a random operation.
func segmentInputOf(random *rand.Rand) segmentInput {
	in := segmentInput{segment: random.IntN(allSegments), project: twoProjects[random.IntN(2)], to: twoProjects[random.IntN(2)], uses: random.IntN(2) == 0}
	drawn := random.IntN(100)
	for _, share := range []struct {
		of   kind
		size int
	}{{assign, 25}, {setDefault, 23}, {strategy, 15}, {move, 15}, {readSegment, 11}, {readStrategy, 10}} {
		if drawn < share.size {
			in.kind = share.of
			break
		}
		drawn -= share.size
	}
	switch {
	case in.kind == "":
		in.kind = destroy
	case in.kind == assign && random.IntN(3) == 0:
		in.project = ""
	}
	return in
}

// createSegments creates the segments, their environments and their flags.
func (w *world) createSegments() {
	post := func(path, body string) string {
		status, response, err := w.send(request{"POST", path, body}, longTimeout)
		if err != nil || status >= 300 {
			panic(fmt.Sprintf("POST %s %s: %d %s %v", path, body, status, response, err))
		}
		return response
	}
	post("/api/admin/projects", `{"id":"shop","name":"shop"}`)
	for i := range allSegments {
		post("/api/admin/environments", fmt.Sprintf(`{"name":"env-%d","type":"test"}`, i))
		for _, project := range twoProjects {
			post("/api/admin/projects/"+project+"/environments", fmt.Sprintf(`{"environment":"env-%d"}`, i))
		}
		created := post("/api/admin/segments", fmt.Sprintf(`{"name":"segment-%d","constraints":[]}`, i))
		if id := decoded[struct{ ID int }](w, created).ID; id != i+1 {
			panic(fmt.Sprintf("segment %d has the id %d", i, id))
		}
		post(flagsOf, fmt.Sprintf(`{"name":%q}`, flagOf(i)))
		added := post(fmt.Sprintf("%s/%s/environments/env-%d/strategies", flagsOf, flagOf(i), i), `{"name":"default"}`)
		w.learn(flagOf(i), "its", decoded[strategyBody](w, added).ID)
	}
}

// doSegment calls an operation and records the response.
func (w *world) doSegment(client int, in segmentInput, timeout time.Duration) {
	called := time.Since(w.start)
	status, body, err := w.send(w.segmentRequest(in), timeout)
	returned := time.Since(w.start)
	w.count()
	reads := in.kind == readSegment || in.kind == readStrategy
	switch {
	case err != nil:
		w.unexpected("%+v: %v", in, err)
	case status < 500:
		out := segmentOutput{status: status}
		if status == http.StatusOK && in.kind == readSegment {
			out.owner = decoded[struct{ Project string }](w, body).Project
		}
		if status == http.StatusOK && in.kind == readStrategy {
			out.uses = len(decoded[struct{ Segments []int }](w, body).Segments) > 0
		}
		w.note(client, in, out, called, returned)
	case reads && timeout == shortTimeout: // the timeout was too short
	case !reads && status == http.StatusServiceUnavailable && strings.Contains(body, "may or may not"):
		w.note(client, in, segmentOutput{}, called, math.MaxInt64)
	case strings.Contains(body, "nothing was changed"):
	default:
		w.unexpected("%+v with %v: %d %s", in, timeout, status, body)
	}
}

func (w *world) segmentRequest(in segmentInput) request {
	segment := fmt.Sprintf("/api/admin/segments/%d", in.segment+1)
	flag := fmt.Sprintf("/api/admin/projects/%s/features/%s", in.project, flagOf(in.segment))
	its := fmt.Sprintf("%s/environments/env-%d/strategies/%s", flag, in.segment, w.known[flagOf(in.segment)]["its"])
	segments := "[]"
	if in.uses {
		segments = fmt.Sprintf("[%d]", in.segment+1)
	}
	switch in.kind {
	case assign:
		owner := "null"
		if in.project != "" {
			owner = `"` + in.project + `"`
		}
		return request{"PUT", segment, fmt.Sprintf(`{"name":"segment-%d","constraints":[],"project":%s}`, in.segment, owner)}
	case destroy:
		return request{"DELETE", segment, ""}
	case setDefault:
		return request{"POST", fmt.Sprintf("/api/admin/projects/%s/environments/env-%d/default-strategy", in.project, in.segment), `{"name":"default","segments":` + segments + `}`}
	case strategy:
		return request{"PUT", its, `{"segments":` + segments + `}`}
	case move:
		return request{"POST", flag + "/changeProject", `{"newProjectId":"` + in.to + `"}`}
	case readSegment:
		return request{"GET", segment, ""}
	}
	return request{"GET", its, ""}
}
