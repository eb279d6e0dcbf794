/*
 * One meter's lease: hosts that want it, one store that decides, a network that loses, delays and repeats, and time.
 *
 * One process; each step of its loop is one event, done whole. Time is a step too ("tick", a third of the time to
 * live), and may pass at any moment but where a host has to cut its link first. Nothing counts absolute time, and a
 * token is only ever compared with the store's present one: so the states are finitely many for any number of grants
 * and any length of time. What is printed has numbers (variables that are "hidden" from the search).
 *
 * -D… N=hosts QUEUE REVOKE RESTART STORERESTART STRAY TAKEOVER POLICY CALM, and the planted BUG_…
 * README.md says what is left out.
 */
#ifndef N
#define N 3
#endif

/* In ticks. The hard stop counts from the sending, the end of the lease from the receipt. SLACK is all that makes the
 * cut late: the watchdog, the link's closing, an exchange under way, a clock that runs slow. Together with it the hard
 * stop reaches the time to live, so that the lock-delay alone keeps two hosts apart. */
#define HARDSTOP 2
#define SLACK 1
#define TTL 3
#ifdef BUG_LOCKDELAY
#define OVER TTL
#else
#define OVER (TTL + 1)
#endif
#define WISH 1		/* how long a person's take-over may be sent */
#define RESERVE 1	/* how long an offer lasts */
#ifdef BUG_OFFER
#define OFFERLAPSES 0
#else
#define OFFERLAPSES 1
#endif

/* A host */
#define IDLE 0
#define SEEK 1		/* wants the meter */
#define HELD 2		/* talks to the meter; under keep also after the hard stop */

/* Its request: sent, or decided and the answer under way */
#define NONE 0
#define ACQ 1
#define REN 2
#define GRANT 3
#define REFUSED 4
#define RENEWED 5
#define LOST 6
#define REVOKED 7

/* The store's record */
#define FREE 0
#define LEASED 1
#define REVK 2

/* A token, seen from the store's */
#define NO 0
#define PRESENT 1
#define PAST 2

typedef Host {
	unsigned mode : 2;
	unsigned own : 2;	/* its lease's token */
	unsigned age : 2;	/* since it sent what last renewed that */
	unsigned aim : 2;	/* a person's take-over: the token that it is aimed at */
	unsigned wage : 2;	/* since the person said so */
	unsigned rem : 2;	/* the store remembers: what its present request was granted */
	unsigned rpc : 3;
	unsigned rtok : 2;	/* the token renewed or granted */
	unsigned rage : 2;	/* since it was sent */
	unsigned raim : 2;
	unsigned rgone : 1;	/* that token was given back before */
	unsigned rel : 2;	/* the release of this token is under way */
#ifdef RESTART
	unsigned sess : 1;	/* its run; 1 names 0 as its predecessor */
	unsigned rsess : 1;
#endif
#ifdef POLICY
	unsigned strict : 1;	/* what it goes by */
	unsigned carried : 1;	/* judge: a good answer of this lease said strict */
	unsigned rstrict : 1;
#endif
#ifdef CALM
	unsigned asked : 1;
#endif
};

typedef Store {
	unsigned st : 2;
	unsigned by : 2;
	unsigned age : 3;
	unsigned gone : 1;	/* its holder has begun to give the present token back, and will not use it again */
	unsigned fin : 1;	/* judge: the release of the present token was decided */
#ifdef RESTART
	unsigned ss : 1;
#endif
#ifdef POLICY
	unsigned strict : 1;	/* the lease's own policy */
	unsigned zone : 1;
	unsigned changes : 2;
#endif
#ifdef QUEUE
	unsigned q0 : 2;	/* hosts + 1 */
	unsigned q1 : 2;
	unsigned rsv : 2;
	unsigned rsvage : 1;
#endif
#ifdef REVOKE
	unsigned revoked : 1;
#endif
#ifdef CALM
	unsigned calm : 1;
	unsigned waited : 4;
#endif
#ifdef STRAY
	/* One request that the network has copied, to be delivered at any time, again and again. */
	unsigned ykind : 2;	/* NONE, ACQ, REN, 3: a release */
	unsigned yby : 2;
	unsigned ysess : 1;
	unsigned ytok : 2;	/* aimed at, renewed or released */
	unsigned yrem : 2;	/* what it was granted, once its host has gone on to another request */
	unsigned ysame : 1;	/* it is the host's present request */
#endif
};

Host h[N];
Store s;

#if N == 2
#define EACH(f) f(0); f(1)
#define ALL(p) (p(0) && p(1))
#define SOME(p) (p(0) || p(1))
#else
#define EACH(f) f(0); f(1); f(2)
#define ALL(p) (p(0) && p(1) && p(2))
#define SOME(p) (p(0) || p(1) || p(2))
#endif
#if defined(CALM) && defined(QUEUE)
#define OFFERED (!s.calm || !((s.st == FREE || s.age >= OVER) && s.rsv == 0 && s.q0 != 0))
#else
#define OFFERED 1
#endif
#define SEEKS(i) (h[i].mode == SEEK)
#define HOLDS(i) (h[i].mode == HELD)

hidden byte out;
hidden byte why;
hidden byte k;
hidden byte over;
hidden byte heed;
hidden byte rem;
/* For the eye, and for the replay through the real rules */
hidden int T;
hidden int own[N];
hidden int aim[N];
hidden int id[N];
hidden int knows[N];	/* the greatest token that it has been told of */
hidden int rtok[N];
hidden int raim[N];
hidden int rknows[N];
hidden int rel[N];
hidden int ytok;
hidden int yid;
hidden int yknows;
hidden int lease;
/* In the random runs faults are rarer than all else; a search has all of them at any time. */
#ifdef TRACES
hidden int dice;
#define RARELY (dice % 7 == 0)
#else
#define RARELY 1
#endif
hidden int next;

/* why, as the rules name it */
#define w_held 1
#define w_revoking 2
#define w_reserved 3
#define w_released 4

#ifdef RESTART
#define SESS(i) h[i].sess
#define RSESS(i) h[i].rsess
#define SS s.ss
#else
#define SESS(i) 0
#define RSESS(i) 0
#define SS 0
#endif
#ifdef POLICY
#define ZONE s.zone
#define STRICT_LEASE (s.strict || s.zone)
#else
#define ZONE 1
#define STRICT_LEASE 1
#endif

#ifdef QUEUE
#define RSV s.rsv
#define NEXT (s.rsv != 0 -> s.rsv : s.q0)
#define RESERVED_FOR_OTHER(i) (s.rsv != 0 && s.rsv != (i) + 1)
#define WAITS_OTHER(i) (RESERVED_FOR_OTHER(i) || (s.rsv == 0 && s.q0 != 0 && s.q0 != (i) + 1))
inline unqueue(i) {
	if
	:: s.q0 == (i) + 1 -> s.q0 = s.q1; s.q1 = 0
	:: else -> if :: s.q1 == (i) + 1 -> s.q1 = 0 :: else fi
	fi
}
inline offer() {
	if
	:: s.rsv == 0 && s.q0 != 0 -> s.rsv = s.q0; s.rsvage = 0; s.q0 = s.q1; s.q1 = 0; printf("queue: offered to %d\n", s.rsv - 1)
	:: else
	fi
}
#define UNQUEUE(i) unqueue(i)
#define OFFER offer()
#else
#define RSV 0
#define NEXT 0
#define RESERVED_FOR_OTHER(i) 0
#define WAITS_OTHER(i) 0
#define UNQUEUE(i) skip
#define OFFER skip
#endif

/* The host's next request is another one. */
inline rename(i) {
#ifdef STRAY
	if
	:: s.ykind == ACQ && s.yby == i && s.ysame -> s.ysame = 0; s.yrem = h[i].rem
	:: else
	fi;
#endif
	h[i].rem = NO; id[i]++
}

#define OUTDATE(x) x = (x == PRESENT -> PAST : x)

inline outdate(i) {
	OUTDATE(h[i].own); OUTDATE(h[i].aim); OUTDATE(h[i].rem); OUTDATE(h[i].rtok); OUTDATE(h[i].raim); OUTDATE(h[i].rel)
}

/* Nobody has it, or who had it does no more. */
inline grant(i, sx) {
	if
	:: heed && RESERVED_FOR_OTHER(i) -> out = REFUSED; why = w_reserved
	:: else ->
#ifndef BUG_REPEAT
		assert(rem == NO);			/* a request is never decided twice */
#endif
		EACH(outdate);
#ifdef STRAY
		OUTDATE(s.ytok); OUTDATE(s.yrem);
#endif
		s.st = LEASED; s.by = i; s.age = 0; s.gone = 0; s.fin = 0;
		T++;
#ifdef RESTART
		s.ss = sx;
#endif
#ifdef POLICY
		s.strict = s.zone;
#endif
#ifdef QUEUE
		if :: s.rsv == (i) + 1 -> s.rsv = 0; s.rsvage = 0 :: else fi;
		unqueue(i);
#endif
		rem = PRESENT; out = GRANT
	fi
}

inline again(i) {
	assert(!s.fin);					/* a release is terminal for its token */
	s.age = 0;
#ifdef POLICY
	s.strict = s.zone;
#endif
	rem = PRESENT; out = GRANT
}

/* Somebody else has it. */
inline contend(i, sx, aimed) {
	if
	:: s.st == REVK -> out = REFUSED; why = w_revoking
	:: s.st == LEASED && aimed == NO -> out = REFUSED; why = w_held
#if defined(BUG_REPEAT) || defined(BUG_AIM)
	:: s.st == LEASED && aimed != NO ->
#else
	:: s.st == LEASED && aimed == PAST -> out = REFUSED; why = w_held
	:: s.st == LEASED && aimed == PRESENT ->
#endif
#ifdef BUG_REPEAT
		assert(rem == NO);			/* a request is never decided twice */
#else
		assert(aimed == PRESENT);		/* taken from nobody but who was meant */
#endif
		if
		:: STRICT_LEASE ->
			s.st = REVK; out = REFUSED; why = w_revoking;
#ifdef QUEUE
			if
			:: s.q0 != (i) + 1 -> unqueue(i); s.q1 = s.q0; s.q0 = (i) + 1
			:: else
			fi
#endif
		:: else -> heed = 0; grant(i, sx)
		fi
	fi
}

/* An acquire is decided, in one step. rem: what this very request was granted before. */
inline acquire(i, sx, aimed) {
	out = NONE; why = 0; heed = 1;
	over = (s.st != FREE && s.age >= OVER);
	if
#ifdef BUG_REPEAT
	:: rem == PRESENT ->
#else
	:: rem != NO ->
#endif
		/* The same answer while that is true. */
		if
		:: rem == PRESENT && s.st == LEASED && s.by == i && SS == sx -> again(i)
		:: else ->
			out = REFUSED;
			why = (s.st == FREE -> w_released : (s.st == REVK -> w_revoking : (s.by == i -> w_released : w_held)))
		fi
	:: else ->
		if
		:: s.st == FREE -> grant(i, sx)
		:: s.st != FREE && s.by == i && SS == sx ->
			/* The same run asks anew. */
			if
			:: s.st == LEASED -> again(i)
			:: s.st == REVK && over -> grant(i, sx)
			:: s.st == REVK && !over -> out = REFUSED; why = w_revoking
			fi
		:: s.st != FREE && s.by == i && SS != sx && sx == 1 ->
			/* The run after the holder's: that one has surely stopped. */
			if
			:: s.st == REVK && WAITS_OTHER(i) -> s.st = FREE; s.age = 0; OFFER; out = REFUSED; why = w_reserved
			:: else -> heed = over; grant(i, sx)
			fi
		:: s.st != FREE && (s.by != i || (SS != sx && sx == 0)) ->
			if
			:: over -> grant(i, sx)
			:: else -> contend(i, sx, aimed)
			fi
		fi
	fi
}

inline renew(i, sx, tok) {
	if
#ifdef BUG_RESURRECT
	:: tok == PRESENT && s.by == i && SS == sx && s.st != REVK -> s.st = LEASED;
#else
	:: tok == PRESENT && s.by == i && SS == sx && s.st == LEASED ->
#endif
		assert(!s.fin);				/* a release is terminal for its token */
		s.age = 0; out = RENEWED;
#ifdef POLICY
		s.strict = s.strict || s.zone
#endif
	:: tok == PRESENT && s.by == i && SS == sx && s.st == REVK -> out = REVOKED
	:: else -> out = LOST
	fi
}

inline release(i, sx, tok) {
	if
	:: tok == PRESENT && s.by == i && SS == sx && s.st != FREE ->
		s.st = FREE; s.age = 0; s.fin = 1; out = 1
	:: else -> out = 0
	fi
}

/* The host's side */

inline quiet(i) {
	h[i].own = NO; h[i].age = 0;
#ifdef POLICY
	h[i].carried = 0; h[i].strict = 0;
#endif
	h[i].mode = IDLE
}

/* The channel is closed, and only then the lease is given back. */
inline stop(i) { s.gone = s.gone || h[i].own == PRESENT; h[i].rel = h[i].own; rel[i] = own[i]; quiet(i); printf("host %d stops, and will give %d back\n", i, own[i]) }

/* It is not its any more: nothing to give back. */
inline abandon(i) { quiet(i); printf("host %d stops: %d is lost\n", i, own[i]) }

inline answered(i) {
	h[i].rpc = NONE; h[i].rtok = NO; h[i].rgone = 0; h[i].rage = 0; h[i].raim = NO;
#ifdef RESTART
	h[i].rsess = 0;
#endif
#ifdef POLICY
	h[i].rstrict = 0;
#endif
}

inline unarm(i) { h[i].aim = NO; h[i].wage = 0; aim[i] = 0 }

#ifdef POLICY
/* strict protects a lease from the renewal that carried it. */
#define TALKS(j) (h[j].mode == HELD && h[j].carried)
#define CUTS(i) (h[i].mode == HELD && h[i].strict)
#else
#define TALKS(j) (h[j].mode == HELD)
#define CUTS(i) (h[i].mode == HELD)
#endif
#define MUSTCUT(i) (CUTS(i) && h[i].age >= HARDSTOP + SLACK)
#define OWNANSWER(i) (RSESS(i) == SESS(i))

/* Two hosts never both talk to the meter. */
inline alone(i) {
	k = 0;
	do
	:: k < N -> if :: k != i -> assert(!(TALKS(i) && TALKS(k))) :: else fi; k++
	:: else -> break
	od
}

/* Its host uses a token that it began to give back never again, though the same run is granted it again. */
#ifdef BUG_RELEASED
#define GIVENBACK(i) 0
#else
#define GIVENBACK(i) h[i].rgone
#endif

inline begin(i) {
	h[i].mode = HELD; h[i].own = h[i].rtok; h[i].age = h[i].rage; own[i] = rtok[i];
	unarm(i);
#ifdef POLICY
	h[i].carried = h[i].rstrict; h[i].strict = h[i].rstrict;
#endif
	printf("host %d talks, by token %d\n", i, own[i]);
	alone(i)
}

#ifdef CALM
#define FAULTS (!s.calm)
#define READY(i) (!s.calm || (h[i].rpc == NONE && h[i].rel == NO && (h[i].mode != SEEK || h[i].asked)))
#define ASKED(i) h[i].asked = 1;
#else
#define FAULTS 1
#define READY(i) 1
#define ASKED(i)
#endif

inline pass(i) {
	if
	:: h[i].mode == HELD && h[i].age < HARDSTOP + SLACK -> h[i].age = h[i].age + 1
	:: else
	fi;
	if
	:: h[i].rpc != NONE && h[i].rpc != REFUSED && h[i].rpc < LOST && h[i].rage < HARDSTOP -> h[i].rage = h[i].rage + 1
	:: else
	fi;
	if
	:: h[i].aim != NO && h[i].wage <= WISH ->
		h[i].wage = h[i].wage + 1;
#ifndef BUG_WISH
		if
		:: h[i].wage > WISH -> unarm(i); if :: h[i].rpc == NONE -> rename(i) :: else fi
		:: else
		fi
#endif
	:: else
	fi;
#ifdef CALM
	h[i].asked = 0
#endif
}

#ifdef RESTART
#define RUN(i) h[i].rsess = h[i].sess;
#define RESTARTS(i) \
	:: d_step { i < RESTART && h[i].sess == 0 && FAULTS && RARELY -> \
		printf("host %d is killed and starts\n", i); \
		quiet(i); h[i].sess = 1; h[i].rel = NO; unarm(i); UNQUEUE(i); knows[i] = 0; \
		if :: h[i].rpc == ACQ || h[i].rpc == REN :: else -> answered(i); rename(i) fi }
#else
#define RUN(i)
#define RESTARTS(i)
#endif

#ifdef POLICY
#define ANSWERPOLICY(i) h[i].rstrict = s.strict
#ifdef BUG_POLICY
#define TAKEUP(i) ; h[i].carried = h[i].carried || h[i].rstrict; alone(i)
#else
#define TAKEUP(i) ; h[i].carried = h[i].carried || h[i].rstrict; h[i].strict = h[i].strict || h[i].rstrict; alone(i)
#endif
#else
#define ANSWERPOLICY(i) skip
#define TAKEUP(i)
#endif

#ifdef TAKEOVER
#define TAKEOVERS(i) \
	:: d_step { i >= N - TAKEOVER && h[i].mode <= SEEK && h[i].rpc == NONE && h[i].aim == NO && s.st != FREE && s.by != i \
			&& FAULTS -> \
		h[i].mode = SEEK; h[i].aim = PRESENT; h[i].wage = 0; aim[i] = T; \
		printf("host %d: a person wants it from %d, who has token %d\n", i, s.by, T); rename(i) }
#else
#define TAKEOVERS(i)
#endif

#ifdef STRAY
#define STRAYS(i) \
	:: d_step { s.ykind == NONE && (h[i].rpc == ACQ || h[i].rpc == REN) && FAULTS && RARELY -> \
		s.ykind = h[i].rpc; s.yby = i; s.ysess = RSESS(i); \
		if \
		:: h[i].rpc == ACQ -> s.ytok = h[i].raim; s.ysame = 1; s.yrem = NO; \
			ytok = raim[i]; yid = id[i]; yknows = rknows[i] \
		:: else -> s.ytok = h[i].rtok; ytok = rtok[i] \
		fi; \
		printf("network copies what %d asked\n", i) } \
	:: d_step { s.ykind == NONE && h[i].rel != NO && FAULTS -> \
		s.ykind = 3; s.yby = i; s.ysess = SESS(i); s.ytok = h[i].rel; ytok = rel[i]; \
		printf("network copies the release of %d\n", i) }
#else
#define STRAYS(i)
#endif

#ifdef QUEUE
#define JOINS(i) \
	:: d_step { h[i].mode == SEEK && s.st != FREE && s.by != i && s.q0 != i + 1 && s.q1 == 0 && s.rsv != i + 1 -> \
		printf("queue: %d joins\n", i); if :: s.q0 == 0 -> s.q0 = i + 1 :: else -> s.q1 = i + 1 fi }
#else
#define JOINS(i)
#endif

#define ACQUIRED(i, sx, n, aimed, claimed) printf("acquire host %d session %d id %d aim %d claim %d reserved %d next %d strict %d: %d why %d token %d\n", i, sx, n, aimed, claimed, lease, next, ZONE, out, why, T)

inline decide(i) {
	rem = h[i].rem; lease = RSV; next = NEXT;
	acquire(i, RSESS(i), h[i].raim);
	h[i].rem = rem; h[i].rpc = out; h[i].raim = NO;
	if :: out == GRANT -> h[i].rtok = PRESENT; h[i].rgone = s.gone; rtok[i] = T :: else -> h[i].rage = 0 fi;
	ANSWERPOLICY(i);
	ACQUIRED(i, RSESS(i), id[i], raim[i], rknows[i])
}

#define HOST(i) \
	:: d_step { h[i].mode == IDLE && h[i].rpc == NONE && FAULTS -> printf("host %d wants it\n", i); h[i].mode = SEEK } \
	:: d_step { h[i].mode == SEEK && h[i].rpc == NONE -> \
		assert(h[i].aim == NO || h[i].wage <= WISH); /* a wish does not outlive its time */ \
		h[i].rpc = ACQ; h[i].rage = 0; h[i].raim = h[i].aim; RUN(i) ASKED(i) \
		raim[i] = aim[i]; rknows[i] = knows[i]; \
		printf("host %d asks, aimed at %d\n", i, aim[i]) } \
	:: d_step { h[i].rpc == ACQ -> decide(i) } \
	:: d_step { h[i].rpc == REN -> \
		renew(i, RSESS(i), h[i].rtok); h[i].rpc = out; ANSWERPOLICY(i); if :: out != RENEWED -> h[i].rage = 0 :: else fi; \
		printf("renew host %d session %d token %d strict %d: %d\n", i, RSESS(i), rtok[i], ZONE, out) } \
	:: d_step { h[i].rpc != NONE && FAULTS && RARELY -> printf("network loses what %d asked\n", i); answered(i) } \
	:: d_step { h[i].rpc == GRANT -> \
		if \
		:: OWNANSWER(i) -> \
			knows[i] = rtok[i]; \
			if \
			:: GIVENBACK(i) -> \
				h[i].rel = h[i].rtok; rel[i] = rtok[i]; rename(i); printf("host %d gives it back again\n", i) \
			:: !GIVENBACK(i) && h[i].mode == SEEK && h[i].rage < HARDSTOP -> begin(i); rename(i) \
			:: !GIVENBACK(i) && h[i].mode == SEEK && h[i].rage >= HARDSTOP -> printf("host %d hears its grant too late\n", i) \
			:: else -> s.gone = s.gone || h[i].rtok == PRESENT; \
				h[i].rel = h[i].rtok; rel[i] = rtok[i]; rename(i); printf("host %d does not want it any more\n", i) \
			fi \
		:: else -> printf("host %d hears an answer to its last run\n", i); rename(i) \
		fi; \
		answered(i) } \
	:: d_step { h[i].rpc == REFUSED -> \
		printf("host %d is refused\n", i); \
		if :: OWNANSWER(i) -> unarm(i) :: else fi; \
		answered(i); rename(i) } \
	:: d_step { h[i].mode == SEEK && h[i].rpc == NONE && FAULTS && RARELY -> \
		printf("host %d gives up\n", i); h[i].mode = IDLE; unarm(i); rename(i); UNQUEUE(i) } \
	:: d_step { h[i].mode == HELD && h[i].rel == NO && h[i].rpc != REN && FAULTS && RARELY -> stop(i) } \
	:: d_step { h[i].mode == HELD && h[i].rpc == NONE -> \
		h[i].rpc = REN; h[i].rtok = h[i].own; h[i].rage = 0; rtok[i] = own[i]; RUN(i) \
		printf("host %d renews %d\n", i, own[i]) } \
	:: d_step { h[i].rpc == RENEWED -> printf("host %d hears that %d is renewed\n", i, rtok[i]); \
		if \
		:: OWNANSWER(i) && h[i].mode == HELD && h[i].own == h[i].rtok && h[i].rage < HARDSTOP -> \
			h[i].age = (h[i].rage < h[i].age -> h[i].rage : h[i].age) TAKEUP(i) \
		:: else \
		fi; \
		answered(i) } \
	:: d_step { (h[i].rpc == LOST || h[i].rpc == REVOKED) -> printf("host %d hears that %d is not renewed\n", i, rtok[i]); \
		if \
		:: OWNANSWER(i) && h[i].mode == HELD -> if :: h[i].rpc == REVOKED -> stop(i) :: else -> abandon(i) fi \
		:: else \
		fi; \
		answered(i) } \
	:: d_step { h[i].mode == HELD && h[i].own == PAST -> printf("push: "); abandon(i) } \
	:: d_step { h[i].mode == HELD && h[i].own == PRESENT && s.st == REVK && h[i].rel == NO -> printf("push: "); stop(i) } \
	:: d_step { CUTS(i) && h[i].age >= HARDSTOP -> printf("hard stop: "); \
		if :: h[i].rel == NO -> stop(i) :: else -> abandon(i) fi } \
	:: d_step { h[i].rel != NO && h[i].rpc != REN -> \
		release(i, SESS(i), h[i].rel); h[i].rel = NO; \
		printf("release host %d session %d token %d: %d\n", i, SESS(i), rel[i], out); if :: out -> OFFER :: else fi } \
	:: d_step { h[i].rel != NO && FAULTS && RARELY -> printf("network loses the release of %d\n", i); h[i].rel = NO } \
	RESTARTS(i) TAKEOVERS(i) STRAYS(i) JOINS(i)

active proctype world() {
	do
#ifdef TRACES
	:: d_step { dice++ }
	:: d_step { dice++ }
	:: d_step { dice++ }
#endif
	HOST(0)
	HOST(1)
#if N > 2
	HOST(2)
#endif
	:: d_step { !SOME(MUSTCUT) && ALL(READY) && OFFERED ->
		printf("tick\n");
		EACH(pass);
		if :: s.st != FREE && s.age < OVER -> s.age = s.age + 1 :: else fi;
#ifdef QUEUE
		if
		:: s.rsv != 0 && OFFERLAPSES -> if :: s.rsvage >= RESERVE -> s.rsv = 0; s.rsvage = 0 :: else -> s.rsvage = s.rsvage + 1 fi
		:: else
		fi;
#endif
#ifdef CALM
		if
		:: s.calm && SOME(SEEKS) && !SOME(HOLDS) ->
			s.waited = s.waited + 1;
			/* A meter that nobody uses goes to a host that waits for it: after its lease's end, and an offer. */
			assert(s.waited <= LIMIT)
		:: else -> s.waited = 0
		fi
#endif
	}
#ifdef QUEUE
	:: d_step { (s.st == FREE || s.age >= OVER) && s.rsv == 0 && s.q0 != 0 -> offer() }
#endif
#ifdef REVOKE
	:: d_step { !s.revoked && s.st == LEASED && FAULTS && RARELY -> s.revoked = 1; s.st = REVK; printf("revoke: 1\n") }
#endif
#ifdef STORERESTART
	:: d_step { s.st != FREE && s.age > 0 && FAULTS && RARELY -> s.age = 0;
#ifdef QUEUE
		s.q0 = 0; s.q1 = 0; s.rsv = 0; s.rsvage = 0;
#endif
		printf("store restarts\n") }
#endif
#ifdef POLICY
	:: d_step { s.changes < 2 && RARELY -> s.changes = s.changes + 1; s.zone = 1 - s.zone; printf("zone: strict %d\n", s.zone) }
#endif
#ifdef STRAY
	:: d_step { s.ykind == ACQ ->
		rem = (s.ysame -> h[s.yby].rem : s.yrem); lease = RSV; next = NEXT;
		acquire(s.yby, s.ysess, s.ytok);
		if :: s.ysame -> h[s.yby].rem = rem :: else -> s.yrem = rem fi;
		ACQUIRED(s.yby, s.ysess, yid, ytok, yknows) }
	:: d_step { s.ykind == REN -> renew(s.yby, s.ysess, s.ytok);
		printf("renew host %d session %d token %d strict %d: %d\n", s.yby, s.ysess, ytok, ZONE, out) }
	:: d_step { s.ykind == 3 -> release(s.yby, s.ysess, s.ytok);
		printf("release host %d session %d token %d: %d\n", s.yby, s.ysess, ytok, out); if :: out -> OFFER :: else fi }
	:: d_step { s.ykind != NONE ->
		s.ykind = NONE; s.yby = 0; s.ysess = 0; s.ytok = NO; s.yrem = NO; s.ysame = 0 }
#endif
#ifdef CALM
	:: d_step { !s.calm -> s.calm = 1; printf("calm\n") }
#endif
	od
}
