"""The Lua of the lanes: each script is one step that no other worker can come between.

KEYS[1] is the lane's hash, KEYS[2] the sorted set of its holders (score: when the place expires). ARGV
begins with the places at the start and the most. Time is the server's. Numbers go out as strings, since
Redis cuts Lua numbers to whole ones.

The hash knows of every holder in which `epoch` it took its place and as which of how many (`at:HOLDER`), so
that a 429 says at how many calls in flight it came. Each 429 that is news begins a new epoch: those of calls
begun before belong to the same burst. Its other fields:

    limit, reason, changed_at, name     as people read them
    paused_until, wait                  the pause, and the last one that nobody asked for
    streak, stumbles                    successes in a row, passing faults in a row
    good                                the calls in flight that go well: one more with each call that is
                                        answered well as one of more
    ceiling, ceiling_at, cost           at how many the last shrink came, when, how long the pause for it was
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
local function leave(holder)
  redis.call('HDEL', KEYS[1], 'at:' .. holder)
  return redis.call('ZREM', KEYS[2], holder)
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do leave(gone) end
"""

ACQUIRE = (
    NOW
    + """
-- ARGV: start, most, holder, lease, name
if redis.call('ZSCORE', KEYS[2], ARGV[3]) == false then
  local paused = read('paused_until', 0) - now
  if paused > 0 then return tostring(paused) end
  local held = redis.call('ZCARD', KEYS[2])
  if held >= places() then
    local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
    return tostring(math.max(0.01, math.min(0.1, tonumber(first[2]) - now)))
  end
  redis.call('HSET', KEYS[1], 'at:' .. ARGV[3], read('epoch', 0) .. ' ' .. (held + 1))
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

RELEASE = f"{NOW}\n-- ARGV: start, most, holder\nreturn leave(ARGV[3])"

STATE = """
local function state()
  return {
    tostring(places()), tostring(redis.call('ZCARD', KEYS[2])),
    stamp(math.max(0, read('paused_until', 0) - now)),
    redis.call('HGET', KEYS[1], 'reason') or '', redis.call('HGET', KEYS[1], 'changed_at') or '0',
    redis.call('HGET', KEYS[1], 'name') or '',
  }
end
local function begun(holder)  -- epoch and number of a holder; nil where it is not known
  local at = holder ~= '' and redis.call('HGET', KEYS[1], 'at:' .. holder)
  if not at then return nil, nil end
  local epoch, number = at:match('^(%d+) (%d+)$')
  return tonumber(epoch), tonumber(number)
end
local function change(limit, reason)
  redis.call('HSET', KEYS[1], 'limit', limit, 'reason', reason, 'changed_at', stamp(now),
    'streak', 0, 'good', math.min(read('good', 0), limit))
end
"""

LOOK = f"{NOW}{STATE}\n-- ARGV: start, most\nreturn state()"

SLOW_DOWN = (
    NOW
    + STATE
    + """
-- ARGV: start, most, holder, asked pause or '', shortest, longest pause, detail, name, patience
local limit, good, streak = places(), read('good', 0), read('streak', 0)
local asked = tonumber(ARGV[4])
local epoch, number = begun(ARGV[3])
local paused = read('paused_until', 0)
local news = epoch == read('epoch', 0) or (epoch == nil and now >= paused)
if asked then paused = math.max(paused, now + asked) end
redis.call('HSET', KEYS[1], 'streak', 0)
if news then
  local pause = asked
  if not asked then
    pause = math.max(tonumber(ARGV[5]), math.min(tonumber(ARGV[6]), 2 * read('wait', 0)))
    paused = math.max(paused, now + pause)
    redis.call('HSET', KEYS[1], 'wait', stamp(pause))
  end
  redis.call('HINCRBY', KEYS[1], 'epoch', 1)
  local fewer
  local at = math.min(limit, number or limit)
  if number == nil or (number <= good and streak == 0) then
    fewer = math.floor(limit * 0.75)
  elseif number > good then  -- what was refused is more than goes well: one less, or a quarter
    fewer = math.max(math.floor(limit * 0.75), at - 1)
  elseif streak < tonumber(ARGV[9]) then  -- too many, though not for their number alone
    fewer = limit - 1
  end
  if fewer then
    fewer = math.max(1, math.min(fewer, limit))
    change(fewer, (number and 'rate limit at ' .. at .. ' in flight: ' or '') .. ARGV[7])
    if number == nil or number > good then
      redis.call('HSET', KEYS[1], 'ceiling', at, 'ceiling_at', stamp(now), 'cost', stamp(pause))
    end
  end
end
redis.call('HSET', KEYS[1], 'paused_until', stamp(paused))
if ARGV[8] ~= '' then redis.call('HSET', KEYS[1], 'name', ARGV[8]) end
keep()
return state()
"""
)

SUCCEEDED = (
    NOW
    + STATE
    + """
-- ARGV: start, most, holder, successes, successes and seconds of a probe, its costs, memory in seconds
local limit, most = places(), tonumber(ARGV[2])
local _, number = begun(ARGV[3])
if ARGV[3] ~= '' then leave(ARGV[3]) else number = limit end
local good = read('good', 0)
if (number or 0) > good then good = good + 1 end
redis.call('HSET', KEYS[1], 'good', good, 'wait', 0, 'stumbles', 0)
local streak = redis.call('HINCRBY', KEYS[1], 'streak', 1)
if limit < most and good >= limit then  -- a lane that is not full learns nothing from more places
  local ceiling, quiet = read('ceiling', most + 2), now - read('ceiling_at', 0)
  if quiet > tonumber(ARGV[8]) then ceiling = most + 2 end
  if limit + 1 < ceiling then
    if streak >= tonumber(ARGV[4]) then
      change(limit + 1, 'grew after ' .. streak .. ' successes in a row')
    end
  elseif quiet >= tonumber(ARGV[7]) * read('cost', 0)
      and (streak >= tonumber(ARGV[5]) or quiet >= tonumber(ARGV[6])) then
    if limit >= ceiling then redis.call('HDEL', KEYS[1], 'ceiling', 'ceiling_at', 'cost') end
    change(limit + 1, 'tries ' .. limit + 1 .. ' again after ' .. streak .. ' successes in a row')
  end
end
keep()
return state()
"""
)

STUMBLED = (
    NOW
    + STATE
    + """
-- ARGV: start, most, faults in a row, detail
local limit, stumbles = places(), redis.call('HINCRBY', KEYS[1], 'stumbles', 1)
redis.call('HSET', KEYS[1], 'streak', 0)
if stumbles >= tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], 'stumbles', 0)
  if limit > 1 then change(limit - 1, stumbles .. ' faults in a row: ' .. ARGV[4]) end
end
keep()
return state()
"""
)
