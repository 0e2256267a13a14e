"""The Lua of the lanes: each script is one step that no other worker can come between.

KEYS[1] is the lane's hash, KEYS[2] the sorted set of its holders (score: when the place expires). ARGV
begins with the places at the start and the most. Time is the server's. Numbers go out as strings, since
Redis cuts Lua numbers to whole ones.
"""

from __future__ import annotations

NOW = """
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1000000
local function read(field, otherwise)
  return tonumber(redis.call('HGET', KEYS[1], field) or otherwise)
end
local function stamp(at) return string.format('%.6f', at) end
local function places() return math.min(read('limit', ARGV[1]), tonumber(ARGV[2])) end
local function keep()
  redis.call('EXPIRE', KEYS[1], 604800)
  redis.call('EXPIRE', KEYS[2], 604800)
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
"""

ACQUIRE = (
    NOW
    + """
-- ARGV: start, most, holder, lease, name
if redis.call('ZSCORE', KEYS[2], ARGV[3]) == false then
  local paused = read('paused_until', 0) - now
  if paused > 0 then return tostring(paused) end
  if redis.call('ZCARD', KEYS[2]) >= places() then
    local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
    return tostring(math.max(0.01, math.min(0.2, tonumber(first[2]) - now)))
  end
end
redis.call('ZADD', KEYS[2], stamp(now + tonumber(ARGV[4])), ARGV[3])
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'name', ARGV[5]) end
keep()
return '0'
"""
)

RENEW = (
    NOW
    + """
-- ARGV: start, most, holder, lease
if redis.call('ZSCORE', KEYS[2], ARGV[3]) == false then return 0 end
redis.call('ZADD', KEYS[2], stamp(now + tonumber(ARGV[4])), ARGV[3])
keep()
return 1
"""
)

RELEASE = "return redis.call('ZREM', KEYS[2], ARGV[1])"

STATE = """
local function state()
  return {
    tostring(places()), tostring(redis.call('ZCARD', KEYS[2])),
    stamp(math.max(0, read('paused_until', 0) - now)),
    redis.call('HGET', KEYS[1], 'reason') or '', redis.call('HGET', KEYS[1], 'changed_at') or '0',
    redis.call('HGET', KEYS[1], 'name') or '',
  }
end
"""

LOOK = f"{NOW}{STATE}\n-- ARGV: start, most\nreturn state()"

SLOW_DOWN = (
    NOW
    + STATE
    + """
-- ARGV: start, most, after, debounce, detail, name
local limit = places()
local quiet = read('quiet_until', 0)
local paused = math.max(read('paused_until', 0), now + tonumber(ARGV[3]))
if now >= quiet then
  limit = math.max(1, math.floor(limit * 0.75))
  redis.call('HSET', KEYS[1], 'reason', ARGV[5], 'changed_at', stamp(now))
  quiet = now + tonumber(ARGV[4])
end
redis.call('HSET', KEYS[1], 'limit', limit, 'streak', 0,
  'paused_until', stamp(paused), 'quiet_until', stamp(math.max(quiet, paused)))
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], 'name', ARGV[6]) end
keep()
return state()
"""
)

SUCCEEDED = (
    NOW
    + STATE
    + """
-- ARGV: start, most, successes, reason
local limit = places()
if redis.call('HINCRBY', KEYS[1], 'streak', 1) >= tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], 'streak', 0)
  if limit < tonumber(ARGV[2]) then
    redis.call('HSET', KEYS[1], 'limit', limit + 1, 'reason', ARGV[4], 'changed_at', stamp(now))
  end
end
keep()
return state()
"""
)
