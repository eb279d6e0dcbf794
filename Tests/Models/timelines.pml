/*
 * The records of one or two zones: two hosts that edit and delete, one store under two copies of the server, pages of
 * one record, and a store that goes back to what it was at any earlier moment.
 *
 * One process; each step of its loop is one event, done whole. A record has versions 1, 2, … (later is greater, as
 * stamps are); one of them may be its deletion. README.md says what is left out.
 *
 * -D… EDITS=n DELETES=n BACKS=n RESTARTS=n PURGES=n EPOCHS=n MOVES=n, and the planted BUG_…
 */
#ifndef EDITS
#define EDITS 3
#endif
#ifndef DELETES
#define DELETES 0
#endif
#ifndef BACKS
#define BACKS 0
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#ifndef PURGES
#define PURGES 0
#endif
#ifndef EPOCHS
#define EPOCHS 0
#endif
#ifndef MOVES
#define MOVES 0
#endif
#define H 2
#define R 2		/* records */
#define MARKS 7
#if MOVES > 0
#define Z 2
#else
#define Z 1
#endif

/* What the server says of a token */
#define GOOD 0
#define EXPIRED 1	/* below the floor of purged tombstones */
#define LOST 2		/* the store went back behind it */
#define EPOCH 3		/* a backup was restored with the command */
#define OTHER 4		/* another zone's */

typedef Zone {
	unsigned seq : 4;
	unsigned floor : 4;
	unsigned marks : 3;
	unsigned dropped : 3;	/* the oldest marks, up to this one */
	byte ver[R];		/* of each record, 0: none */
	byte at[R];		/* the zone's sequence at its last change */
	byte first[MARKS];	/* of each mark: the sequence of the change that it was written with, */
	byte id[MARKS];		/* and how often the store had gone back, which is what random ids are for */
};
typedef Store {
	unsigned epoch : 2;
	Zone z[Z];
};
typedef Told {
	unsigned ver : 3;
	unsigned out : 2;	/* 1: in the outbox; 2: told, and not yet listed by the server */
	unsigned aside : 3;	/* set aside, and listed: this version */
	unsigned seen : 1;	/* listed in the reading from the start that is under way */
	unsigned own : 1;	/* edited here */
	unsigned apart : 3;	/* the other zone's deletion, kept for a return */
};
typedef Host {
	unsigned zone : 1;
	unsigned has : 1;	/* a change token: */
	unsigned tzone : 1;
	unsigned epoch : 2;
	unsigned seq : 4;
	unsigned read : 4;
	unsigned mark : 3;
	unsigned id : 2;
	unsigned start : 4;	/* the floor when a reading from the start began */
	unsigned starts : 1;	/* such a reading is under way */
	unsigned lost : 1;	/* judge: it was read beyond what the store went back to */
	unsigned why : 2;	/* GOOD or EXPIRED: what is not listed is to be set aside */
	unsigned done : 1;	/* the last page was the last one */
	Told r[R];
};

Store s;
Store old;		/* a copy of the store that may be put back */
Host h[H];
bit kept = 0;
bit marked[4];		/* per zone and copy: this run has written its mark */
byte made[R];		/* judge: the newest version of each record */
byte dead[R];		/* the version that is a deletion; 0: none */
byte edits = 0;
byte deletes = 0;
byte backs = 0;
byte restarts = 0;
byte purges = 0;
byte epochs = 0;
byte moves = 0;

hidden byte k;
hidden byte j;
hidden byte n;
hidden byte out;
hidden byte reach;
hidden byte last;
hidden byte more;

#define ZN(i) s.z[h[i].zone]
#define ISDEAD(x, v) ((v) != 0 && (v) == dead[x])
#define LIVE(x, v) ((v) != 0 && (v) != dead[x])

/* Hosts and records are alike, so that the first edit is host 0's of record 0. */
#define FIRST(i, x) ((edits > 0 || i == 0) && (made[0] > 0 || x == 0))
#define EDIT(i, x) \
	:: d_step { edits < EDITS && FIRST(i, x) -> edits++; made[x]++; \
		h[i].r[x].ver = made[x]; h[i].r[x].out = 1; h[i].r[x].own = 1; \
		printf("host %d edits %d: version %d\n", i, x, made[x]) } \
	:: d_step { deletes < DELETES && dead[x] == 0 && h[i].r[x].ver != 0 -> deletes++; made[x]++; dead[x] = made[x]; \
		h[i].r[x].ver = made[x]; h[i].r[x].out = 1; h[i].r[x].own = 1; \
		printf("host %d deletes %d: version %d\n", i, x, made[x]) }

/* The server takes a record, through copy c. */
inline modify(i, x, c) {
	if
	:: h[i].r[x].ver > ZN(i).ver[x] ->
		ZN(i).seq = ZN(i).seq + 1;
		ZN(i).ver[x] = h[i].r[x].ver; ZN(i).at[x] = ZN(i).seq;
		if
		:: !marked[h[i].zone * 2 + c] ->
			marked[h[i].zone * 2 + c] = 1;
			ZN(i).first[ZN(i).marks] = ZN(i).seq; ZN(i).id[ZN(i).marks] = backs;
			ZN(i).marks = ZN(i).marks + 1;
			printf("mark %d %d %d %d\n", h[i].zone, ZN(i).marks, backs, ZN(i).seq)
		:: else
		fi;
		printf("change %d %d\n", h[i].zone, ZN(i).seq)
	:: else
	fi
}

#ifdef BUG_TOLD
#define AFTERTELLING 0
#else
#define AFTERTELLING 2
#endif

/* Two copies differ only while one of them has written its mark. */
#if Z > 1
#define BYCOPY(c) 1
#else
#define BYCOPY(c) (c == 0 || marked[0] != marked[1])
#endif
#define PUSH(i, x, c) \
	:: d_step { h[i].r[x].out == 1 && BYCOPY(c) && ZN(i).seq < 15 && ZN(i).marks < MARKS -> \
		printf("host %d tells %d version %d through copy %d\n", i, x, h[i].r[x].ver, c); \
		modify(i, x, c); \
		/* the server answers with the merged record where it differs */ \
		h[i].r[x].out = (h[i].r[x].ver == ZN(i).ver[x] -> AFTERTELLING : 0); h[i].r[x].ver = ZN(i).ver[x] }

#define LOSE(i, x, c) \
	:: d_step { h[i].r[x].out == 1 && h[i].r[x].ver > ZN(i).ver[x] && ZN(i).seq < 15 && ZN(i).marks < MARKS -> \
		printf("host %d tells %d version %d through copy %d, and the answer is lost\n", i, x, h[i].r[x].ver, c); \
		modify(i, x, c) }

/* The floor is judged before the mark. */
inline judge(i) {
	out = GOOD;
	reach = (h[i].read > h[i].seq -> h[i].read : h[i].seq);
	if
	:: !h[i].has
	:: h[i].has && h[i].tzone != h[i].zone -> out = OTHER
	:: h[i].has && h[i].tzone == h[i].zone && h[i].epoch != s.epoch -> out = EPOCH
	:: else ->
		if
		:: h[i].seq < ZN(i).floor && (!h[i].starts || h[i].start < ZN(i).floor) -> out = EXPIRED
		:: else ->
#ifdef BUG_BACK
			/* No marks: what is beyond the zone is taken for purged. */
			if :: h[i].seq > ZN(i).seq -> out = EXPIRED :: else fi
#else
			if
			:: h[i].mark > ZN(i).marks -> out = LOST
			:: h[i].mark != 0 && h[i].mark <= ZN(i).marks && (h[i].mark <= ZN(i).dropped
				|| ZN(i).id[h[i].mark - 1] != h[i].id) -> out = LOST
			:: h[i].mark == ZN(i).marks && (h[i].mark == 0 || ZN(i).id[h[i].mark - 1] == h[i].id) && reach > ZN(i).seq ->
				out = LOST
			:: h[i].mark < ZN(i).marks && (h[i].mark == 0 || (h[i].mark > ZN(i).dropped
				&& ZN(i).id[h[i].mark - 1] == h[i].id)) && reach >= ZN(i).first[h[i].mark] -> out = LOST
			:: else
			fi
#endif
		fi
	fi;
	if
	:: h[i].has -> printf("judge %d zone %d epoch %d: token zone %d epoch %d seq %d mark %d id %d read %d floor %d: %d\n", h[i].zone, h[i].zone, s.epoch, h[i].tzone, h[i].epoch, h[i].seq, h[i].mark, h[i].id, h[i].read, (h[i].starts -> h[i].start : 99), out)
	:: else
	fi;
#ifndef BUG_BACK
	/* A token of a lost timeline is never served as good; copies that restart raise no false alarm. */
	assert(!h[i].has || out == EXPIRED || out == EPOCH || out == OTHER || ((out == LOST) == h[i].lost))
#endif
}

inline untoken(i) {
	h[i].has = 0; h[i].tzone = 0; h[i].epoch = 0; h[i].seq = 0; h[i].read = 0; h[i].mark = 0; h[i].id = 0; h[i].start = 0;
	h[i].starts = 0; h[i].lost = 0; h[i].done = 0
}

inline listed(i, x) {
	h[i].r[x].seen = h[i].starts; h[i].r[x].aside = 0;
	if
	:: ZN(i).ver[x] >= h[i].r[x].ver -> h[i].r[x].ver = ZN(i).ver[x]; h[i].r[x].out = 0
	:: else -> h[i].r[x].out = 1	/* whatever the server lacks is told again */
	fi
}

/* Not listed by the server in a reading from the start that began below the floor. */
inline unlisted(i, x) {
	if
	:: h[i].r[x].ver != 0 && !h[i].r[x].seen && h[i].r[x].out == 0 ->
#ifdef BUG_BACK
		/* nothing live is deleted because a server forgot */
		assert(h[i].r[x].ver == dead[x] || dead[x] > h[i].r[x].ver);
#else
		if :: LIVE(x, h[i].r[x].ver) -> h[i].r[x].aside = h[i].r[x].ver :: else fi;
#endif
		h[i].r[x].ver = 0;
		printf("host %d sets %d aside\n", i, x)
	:: else
	fi
}

inline page(i) {
	if
	:: !h[i].has -> h[i].starts = 1; h[i].start = ZN(i).floor; h[i].r[0].seen = 0; h[i].r[1].seen = 0
	:: else
	fi;
	last = 0; n = 0; more = 0;
	k = 0;
	do
	:: k < R ->
		if
		:: ZN(i).at[k] > h[i].seq ->
			if
			:: last == 0 || ZN(i).at[k] < last -> more = (last != 0); last = ZN(i).at[k]; n = k
			:: else -> more = 1
			fi
		:: else
		fi;
		k++
	:: else -> break
	od;
	k = 0;
	if :: last != 0 -> listed(i, n) :: else fi;
	h[i].has = 1; h[i].tzone = h[i].zone; h[i].epoch = s.epoch; h[i].lost = 0;
	h[i].read = ZN(i).seq; h[i].mark = ZN(i).marks;
	h[i].id = (ZN(i).marks == 0 -> 0 : ZN(i).id[ZN(i).marks - 1]);
	if
	:: more -> h[i].seq = last; h[i].done = 0
	:: else ->
		h[i].seq = ZN(i).seq; h[i].done = 1;
		if
		:: h[i].starts && h[i].why == EXPIRED -> unlisted(i, 0); unlisted(i, 1)
		:: else
		fi;
		h[i].starts = 0; h[i].start = 0; h[i].why = GOOD; h[i].r[0].seen = 0; h[i].r[1].seen = 0;
		/* What was told and does not come back was forgotten. */
		if :: h[i].r[0].out == 2 -> h[i].r[0].out = 1 :: else fi;
		if :: h[i].r[1].out == 2 -> h[i].r[1].out = 1 :: else fi
	fi;
	printf("page zone %d: token zone %d epoch %d seq %d mark %d id %d read %d floor %d more %d\n", h[i].zone, h[i].tzone, h[i].epoch, h[i].seq, h[i].mark, h[i].id, h[i].read, (h[i].starts -> h[i].start : 99), more)
}

inline all(i) {
	if :: h[i].r[0].ver != 0 -> h[i].r[0].out = 1 :: else fi;
	if :: h[i].r[1].ver != 0 -> h[i].r[1].out = 1 :: else fi
}

inline fetch(i) {
	judge(i);
	if
	:: out == GOOD -> page(i)
	:: out == EXPIRED -> untoken(i); h[i].why = EXPIRED
	:: out == LOST || out == EPOCH -> untoken(i); h[i].why = GOOD; all(i)
	:: out == OTHER -> untoken(i); h[i].why = GOOD
	fi;
	printf("host %d fetched: %d\n", i, out)
}

#define UPTODATE(i) (h[i].has && h[i].done && !h[i].starts && h[i].tzone == h[i].zone && h[i].epoch == s.epoch \
	&& h[i].seq == ZN(i).seq && h[i].r[0].out == 0 && h[i].r[1].out == 0 && h[i].why == GOOD)

/* Nothing is left to be said, and every host has just heard that its token is good. */
#define SAME(x, a, b) ((a) == (b) || (!LIVE(x, a) && !LIVE(x, b)))
inline compare(x) {
	assert(SAME(x, h[0].r[x].ver, ZN(0).ver[x]));
	assert(SAME(x, h[1].r[x].ver, ZN(0).ver[x]));
	/* No setting is lost: it is everywhere, or set aside and listed, or was deleted. */
	assert(!LIVE(x, made[x]) || ZN(0).ver[x] == made[x] || h[0].r[x].aside == made[x] || h[1].r[x].aside == made[x])
}

inline copyzone(q, to, from) {
	to.z[q].seq = from.z[q].seq; to.z[q].floor = from.z[q].floor; to.z[q].marks = from.z[q].marks;
	to.z[q].dropped = from.z[q].dropped;
	to.z[q].ver[0] = from.z[q].ver[0]; to.z[q].at[0] = from.z[q].at[0];
	to.z[q].ver[1] = from.z[q].ver[1]; to.z[q].at[1] = from.z[q].at[1];
	k = 0;
	do
	:: k < MARKS -> to.z[q].first[k] = from.z[q].first[k]; to.z[q].id[k] = from.z[q].id[k]; k++
	:: else -> break
	od;
	k = 0
}
inline forget(q) {
	old.z[q].seq = 0; old.z[q].floor = 0; old.z[q].marks = 0; old.z[q].dropped = 0;
	old.z[q].ver[0] = 0; old.z[q].at[0] = 0; old.z[q].ver[1] = 0; old.z[q].at[1] = 0;
	k = 0;
	do
	:: k < MARKS -> old.z[q].first[k] = 0; old.z[q].id[k] = 0; k++
	:: else -> break
	od;
	k = 0
}
inline missing(i) {
	if
	:: h[i].has && h[i].tzone == 0 && (h[i].read > old.z[0].seq || h[i].seq > old.z[0].seq) -> h[i].lost = 1
#if Z > 1
	:: h[i].has && h[i].tzone == 1 && (h[i].read > old.z[1].seq || h[i].seq > old.z[1].seq) -> h[i].lost = 1
#endif
	:: else
	fi
}
#if Z > 1
#define ZONES(f) f(0); f(1)
#define COPYZONES(to, from) copyzone(0, to, from); copyzone(1, to, from)
#else
#define ZONES(f) f(0)
#define COPYZONES(to, from) copyzone(0, to, from)
#endif

/* Its tombstones of the one zone are kept apart, what it edited itself is brought, what else it knew is set aside. */
#ifdef BUG_ZONE
#define bring(i, x) skip
#else
inline bring(i, x) {
	j = h[i].r[x].apart; h[i].r[x].apart = 0;
	if
	:: ISDEAD(x, h[i].r[x].ver) -> h[i].r[x].apart = h[i].r[x].ver; h[i].r[x].ver = 0; h[i].r[x].out = 0
	:: LIVE(x, h[i].r[x].ver) && h[i].r[x].own -> h[i].r[x].out = 1
	:: LIVE(x, h[i].r[x].ver) && !h[i].r[x].own ->
		h[i].r[x].aside = h[i].r[x].ver; h[i].r[x].ver = 0; h[i].r[x].out = 0
	:: else
	fi;
	if
	:: j > h[i].r[x].ver -> h[i].r[x].ver = j; h[i].r[x].out = 1
	:: else
	fi;
	j = 0
}
#endif

#define HOST(i) \
	EDIT(i, 0) EDIT(i, 1) \
	PUSH(i, 0, 0) PUSH(i, 0, 1) PUSH(i, 1, 0) PUSH(i, 1, 1) \
	LOSE(i, 0, 0) LOSE(i, 1, 0) \
	:: d_step { !h[i].has || !UPTODATE(i) || h[i].lost -> fetch(i) } \
	:: d_step { moves < MOVES -> moves++; \
		h[i].zone = 1 - h[i].zone; \
		bring(i, 0); bring(i, 1); MOVED(i) \
		printf("host %d joins zone %d\n", i, h[i].zone) }

#ifdef BUG_ZONE
/* Tokens belong to the epoch, which all zones of a cloud share. */
#define MOVED(i) h[i].tzone = h[i].zone;
#else
#define MOVED(i) untoken(i); h[i].why = GOOD;
#endif

/* Half a year has passed since that deletion: a host without a token was away for as long. */
#define AWAY(i) h[i].why = (h[i].has -> h[i].why : EXPIRED)
#define PURGE(q, x) \
	:: d_step { purges < PURGES && ISDEAD(x, s.z[q].ver[x]) -> purges++; \
		if :: s.z[q].at[x] > s.z[q].floor -> s.z[q].floor = s.z[q].at[x] :: else fi; \
		s.z[q].ver[x] = 0; s.z[q].at[x] = 0; AWAY(0); AWAY(1); \
		k = s.z[q].dropped; \
		do \
		:: k + 1 < s.z[q].marks && s.z[q].first[k + 1] <= s.z[q].floor -> k++ \
		:: else -> break \
		od; \
		s.z[q].dropped = k; k = 0; \
		printf("purge %d floor %d dropped %d\n", q, s.z[q].floor, s.z[q].dropped) }

#if PURGES > 0
#if Z > 1
#define PURGED PURGE(0, 0) PURGE(0, 1) PURGE(1, 0) PURGE(1, 1)
#else
#define PURGED PURGE(0, 0) PURGE(0, 1)
#endif
#else
#define PURGED
#endif

active proctype world() {
	do
	HOST(0)
	HOST(1)
	PURGED
#if RESTARTS > 0
	:: d_step { restarts < RESTARTS && (marked[0] || marked[2]) -> restarts++; marked[0] = 0; marked[2] = 0;
		printf("copy 0 restarts\n") }
	:: d_step { restarts < RESTARTS && (marked[1] || marked[3]) -> restarts++; marked[1] = 0; marked[3] = 0;
		printf("copy 1 restarts\n") }
#endif
#if BACKS + EPOCHS > 0
	:: d_step { !kept && backs + epochs < BACKS + EPOCHS -> kept = 1; old.epoch = s.epoch; COPYZONES(old, s);
		printf("store: copied\n") }
#endif
#if BACKS > 0
	:: d_step { kept && backs < BACKS -> kept = 0; backs++;
		missing(0); missing(1);
		s.epoch = old.epoch; COPYZONES(s, old); old.epoch = 0; ZONES(forget);
		marked[0] = 0; marked[1] = 0; marked[2] = 0; marked[3] = 0;
		printf("store: put back\n") }
#endif
#if EPOCHS > 0
	:: d_step { kept && epochs < EPOCHS -> kept = 0; epochs++;
		missing(0); missing(1);
		COPYZONES(s, old); s.epoch = epochs; old.epoch = 0; ZONES(forget);
		marked[0] = 0; marked[1] = 0; marked[2] = 0; marked[3] = 0;
		printf("store: restored by the command, epoch %d\n", s.epoch) }
#endif
	:: d_step { h[0].zone == h[1].zone && UPTODATE(0) && UPTODATE(1) && !h[0].lost && !h[1].lost ->
		compare(0); compare(1) }
	od
}
